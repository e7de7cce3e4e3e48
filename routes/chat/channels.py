"""The two channels of chat on `/v1/social/live`, and the kinds of actors that serve them.

| channel             | snapshot      | events in delta mode                                        |
|---------------------|---------------|-------------------------------------------------------------|
| `inbox`             | InboxSnapshot | conversation_updated                                        |
| `conversation:<id>` | MessagePage   | message_*, poll_updated, conversation_updated, typing, read |
"""

from collections.abc import Awaitable

from actors.chat.commands import ChatViewer
from actors.chat.public import (
    Conversation,
    ConversationGone,
    InboxSnapshot,
    Message,
    MessagePage,
    OwnChoice,
    ReadNotice,
    TypingNotice,
)
from actors.errors import ConversationNotFound
from actors.ids import UserId, parse_object_id
from routes.chat.parts import CHAT_KINDS
from routes.edge.declare.shown import Shown
from routes.friends.parts import FRIENDS_LIVE
from routes.live.channel import LiveChannel, SubscribeParams, the_user
from routes.part import Opened

READ = "social:chat.read"
"""The permission node for reading."""

WRITE = "social:chat.write"
"""The permission node for everything that writes."""

MODERATE = "social:chat.moderate"
"""The permission node for deleting messages of others."""

MAX_PAGE = 120
"""Most messages in one page or snapshot (service description §8)."""


def _reader(user_id: UserId, params: SubscribeParams) -> ChatViewer:
    return ChatViewer(user_id, min(max(params.limit, 1), MAX_PAGE), params.include_archived)


def _acquaint(service: Opened, user_id: UserId) -> Awaitable[None] | None:
    circles = service.of(FRIENDS_LIVE).circles
    return None if circles.knows(user_id) else circles.learn(user_id)


INBOX = LiveChannel(
    name="inbox",
    needs=(READ,),
    shown=lambda service: service.of(CHAT_KINDS).inbox,
    viewer=the_user,
    by_default=True,
    shows=Shown(
        says="The user's conversations.",
        snapshot=InboxSnapshot,
        events={"conversation_updated": Conversation | ConversationGone},
    ),
    prepare=_acquaint,
)

CONVERSATION = LiveChannel(
    name="conversation",
    needs=(READ,),
    shown=lambda service: service.of(CHAT_KINDS).conversation,
    viewer=_reader,
    id_of=parse_object_id,
    missing=ConversationNotFound,
    shows=Shown(
        says="The messages of a conversation. Offsets are durable; `typing` and `read` have none.",
        snapshot=MessagePage,
        events={
            "message_created": Message,
            "message_edited": Message,
            "message_deleted": Message,
            "poll_updated": Message,
            "conversation_updated": Conversation,
            "typing": TypingNotice,
            "read": ReadNotice,
        },
        own=OwnChoice,
    ),
    prepare=_acquaint,
)
