"""The two single-purpose streams of chat: one conversation, and the inbox (service description §6, contract §4)."""

from functools import partial
from typing import Annotated

from actors.chat.commands import ChatViewer
from actors.chat.public import InboxSnapshot, MessagePage
from actors.chat.reading import MessageSlice
from actors.errors import ConversationNotFound
from actors.ids import ObjectId
from actors.kernel.subscription import WatchRequest
from routes.call import Call
from routes.chat import reads
from routes.chat.channels import MAX_PAGE, READ
from routes.chat.guards import NOT_FOUND, acquainted, onlooker
from routes.chat.page_watch import TOUCHES, PageWatch
from routes.chat.parts import CHAT_KINDS
from routes.edge.declare.endpoint import stream
from routes.edge.declare.query import Clamp
from routes.edge.listener import Listener
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import Interval, StreamQuery, show, show_own, unannounced, watch


class ConversationQuery(StreamQuery, frozen=True, rename="camel"):
    """What a stream shows of a conversation.

    Args:
        limit: messages in a snapshot, clamped to 1..120.
        before_ms: an older page: only messages with a smaller `createdAtMs`; left out, the newest page.
        include_archived: whether archived messages are merged in.
    """

    interval: Interval = 1
    limit: Annotated[int, Clamp(1, MAX_PAGE)] = 50
    before_ms: int | None = None
    include_archived: bool = True


@stream(
    "/v1/social/chat/conversations/{conversationId}/live",
    needs=READ,
    sends=(MessagePage,),
    refusals=(ConversationNotFound,),
    guard=onlooker,
    not_found=NOT_FOUND,
)
async def conversation_live(
    call: Call, socket: LiveSocket, conversation_id: ObjectId, query: ConversationQuery
) -> Listener | None:
    """A MessagePage at once, then whenever the conversation has changed.

    With `beforeMs`, only when an item of that older page has changed, at most once a second. The viewer's own fields of
    the conversation are null here. Needs `social:chat.read` and membership; losing either closes with 4403.
    """
    service = call.service
    if query.before_ms is not None:
        return await _show_older(call, socket, conversation_id, query, query.before_ms)
    viewer = ChatViewer(call.user_id, query.limit, query.include_archived)
    return await show(call, socket, service.of(CHAT_KINDS).conversation, conversation_id, viewer=viewer)


@stream("/v1/social/chat/live", needs=READ, sends=(InboxSnapshot,), guard=acquainted)
async def inbox_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """The inbox at once, then on change, at most one frame per 250 ms.

    Needs `social:chat.read`; losing it closes with 4403.
    """
    return await show_own(call, socket, call.service.of(CHAT_KINDS).inbox)


async def _show_older(
    call: Call, socket: LiveSocket, conversation_id: ObjectId, query: ConversationQuery, before_ms: int
) -> Listener | None:
    conversation = call.service.of(CHAT_KINDS).conversation
    asked = MessageSlice(query.limit, before_ms, query.include_archived)
    page = PageWatch(
        socket, before_ms, partial(reads.live_page, call.service, conversation_id, call.user_id, asked)
    )
    request = WatchRequest(
        sink=page,
        viewer=ChatViewer(call.user_id, 1, include_archived=False, follows_rows=True),
        channel=f"{conversation.name}:{conversation_id}",
        envelope=TOUCHES,
        mode="delta",
        opened=unannounced,
    )
    return await watch(call, socket, request, shown=conversation, id=conversation_id)
