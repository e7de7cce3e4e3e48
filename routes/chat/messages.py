"""Messages: pages, posting, editing, deleting, revisions, read markers, typing, and past events (contract §4)."""

from typing import Annotated

import msgspec

from actors.bounds import MAX_SAFE_INTEGER, ObjectIdText
from actors.chat.commands import (
    Content,
    DeleteMessage,
    EditMessage,
    MarkRead,
    MentionDrafts,
    MessageDraft,
    StartTyping,
    posting,
)
from actors.chat.public import EventPage, Message, MessagePage, ReadMarker, RevisionList
from actors.chat.reading import MessageSlice
from actors.errors import (
    Blocked,
    Conflict,
    ConversationNotFound,
    EventsExpired,
    Forbidden,
    Invalid,
    NotFound,
)
from actors.id_fields import object_id_in
from actors.ids import ObjectId
from routes.auditing import stamp_of
from routes.call import Call
from routes.chat import reads
from routes.chat.again import message_again
from routes.chat.channels import MAX_PAGE, READ, WRITE
from routes.chat.guards import NOT_FOUND, onlooker, participant, participant_or_moderator, sender
from routes.chat.parts import CHAT_KINDS
from routes.chat.volume import excess_bytes
from routes.counting import charge
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.reply import Ask, Encoded, MaybeAwaitable, then
from routes.edge.wire import Wire
from routes.rates import CHAT_BYTES, CHAT_SEND
from routes.users.parts import USER_DIRECTORY

_CONVERSATION = "/v1/social/chat/conversations/{conversationId}"
_MESSAGE = _CONVERSATION + "/messages/{messageId}"

MAX_EVENTS = 500
"""Most past events in one answer."""


class PageQuery(Wire, frozen=True):
    """Which page of messages.

    Args:
        limit: messages of a page, clamped to 1..120.
        before_ms: only messages with a smaller `createdAtMs`; left out, the newest page.
        include_archived: whether archived messages are merged in.
    """

    limit: Annotated[int, Clamp(1, MAX_PAGE)] = 50
    before_ms: int | None = None
    include_archived: bool = True


class Edit(Wire, frozen=True):
    """The new text of a message.

    Args:
        content: the new text.
        mentions: participants, and who is mentioned already though they have left; left out or null, the mentions whose
            token is still in the content stay.
    """

    content: Content
    mentions: MentionDrafts | None = None


class ReadUpTo(Wire, frozen=True):
    """The newest message that the caller has read."""

    message_id: ObjectIdText


class EventsQuery(Wire, frozen=True):
    """Which past events.

    Args:
        since: answer the events after this offset; 0 for the beginning.
        limit: events of an answer, clamped to 1..500.
    """

    since: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)] = 0
    limit: Annotated[int, Clamp(1, MAX_EVENTS)] = 50


def as_message(reply: msgspec.Raw) -> Encoded[Message]:
    """Wrap the actor's answer, which is encoded JSON already."""
    return Encoded(bytes(reply))


@endpoint(
    "GET",
    _CONVERSATION + "/messages",
    needs=READ,
    refusals=(ConversationNotFound,),
    guard=onlooker,
    not_found=NOT_FOUND,
)
def list_messages(
    call: Call, conversation_id: ObjectId, query: PageQuery
) -> MaybeAwaitable[Encoded[MessagePage]]:
    """A page of messages, oldest first.

    Needs `social:chat.read` and membership. `nextBeforeMs` is the next page's `beforeMs`, 0 on the last page; pages
    neither skip nor repeat messages, whatever is written meanwhile.
    """
    asked = MessageSlice(query.limit, query.before_ms, query.include_archived)
    return then(reads.page(call, conversation_id, asked), Encoded)


@endpoint(
    "POST",
    _CONVERSATION + "/messages",
    needs=WRITE,
    status=201,
    rate=CHAT_SEND,
    rate_key="conversation_id",
    refusals=(ConversationNotFound, NotFound, Blocked, Invalid),
    guard=participant,
    not_found=NOT_FOUND,
    again=message_again,
)
def post_message(call: Call, conversation_id: ObjectId, body: MessageDraft) -> Ask[Encoded[Message]]:
    """Sends a message; answered once it is durable.

    Needs `social:chat.write` and membership. At least one of `content`, `attachmentIds` and `poll` is required (422);
    mentions must be participants, attachments the caller's own in this conversation. In a direct conversation with a
    block between the two it is a 403 `BLOCKED`. A repeated `clientMessageId` is answered with the first message.
    """
    charge(call, CHAT_BYTES, call.user_id, excess_bytes(body))
    message_id = call.new_id()
    sender_name = call.service.of(USER_DIRECTORY).peek_name(call.user_id)
    command = posting(call.user_id, message_id, body, sender_name)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, as_message)


@endpoint(
    "PATCH",
    _MESSAGE,
    needs=WRITE,
    refusals=(ConversationNotFound, NotFound, Forbidden, Blocked, Invalid, Conflict),
    guard=sender,
    not_found=NOT_FOUND,
)
def edit_message(
    call: Call, conversation_id: ObjectId, message_id: ObjectId, body: Edit
) -> Ask[Encoded[Message]]:
    """Replaces the text of the caller's own message; the former text becomes a revision.

    Needs `social:chat.write`, membership, and to be the sender (403 otherwise). A deleted or archived message is a 409.
    Answers the Message with `editedAt` and the next `revision`.
    """
    draft = MessageDraft(body.content, mentions=body.mentions)
    charge(call, CHAT_BYTES, call.user_id, excess_bytes(draft))
    command = EditMessage(call.user_id, message_id, body.content, body.mentions)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, as_message)


@endpoint(
    "DELETE",
    _MESSAGE,
    needs=WRITE,
    refusals=(ConversationNotFound, NotFound, Forbidden, Conflict),
    guard=participant_or_moderator,
    not_found=NOT_FOUND,
)
def delete_message(call: Call, conversation_id: ObjectId, message_id: ObjectId) -> Ask[Encoded[Message]]:
    """Soft-deletes a message; repeating it changes nothing.

    Needs `social:chat.write`, and to be the sender, or to hold `social:chat.moderate`. Answers 200 with what is left:
    `deletedAt`, no content, no attachments, no poll. A moderator's deletion of others' messages is in the audit trail.
    """
    stamp = stamp_of(call) if call.subject is True else None
    command = DeleteMessage(call.user_id, message_id, stamp)
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command, as_message)


@endpoint(
    "GET",
    _MESSAGE + "/revisions",
    needs=READ,
    refusals=(ConversationNotFound, NotFound),
    guard=participant,
    not_found=NOT_FOUND,
)
async def list_revisions(call: Call, conversation_id: ObjectId, message_id: ObjectId) -> RevisionList:
    """Every text of a message, oldest first; none once it is deleted.

    Needs `social:chat.read` and membership. The first and the newest 50 are kept.
    """
    return await reads.revisions(call, conversation_id, message_id)


@endpoint(
    "PUT",
    _CONVERSATION + "/read",
    needs=WRITE,
    refusals=(ConversationNotFound, NotFound, Invalid),
    guard=participant,
    not_found=NOT_FOUND,
)
def mark_read(call: Call, conversation_id: ObjectId, body: ReadUpTo) -> Ask[ReadMarker]:
    """Marks everything up to a message as read; the marker never moves back.

    Needs `social:chat.write` and membership. Answers the caller's counts.
    """
    command = MarkRead(call.user_id, object_id_in(body.message_id, "/messageId"))
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, command)


@endpoint(
    "POST",
    _CONVERSATION + "/typing",
    needs=WRITE,
    refusals=(ConversationNotFound, Blocked),
    guard=participant,
    not_found=NOT_FOUND,
)
def start_typing(call: Call, conversation_id: ObjectId) -> Ask[None]:
    """Tells the others that the caller is typing, for 5 s; not stored.

    Needs `social:chat.write` and membership. Answers 204.
    """
    return call.ask(call.service.of(CHAT_KINDS).conversation, conversation_id, StartTyping(call.user_id))


@endpoint(
    "GET",
    _CONVERSATION + "/events",
    needs=READ,
    refusals=(ConversationNotFound, EventsExpired),
    guard=onlooker,
    not_found=NOT_FOUND,
)
async def list_events(call: Call, conversation_id: ObjectId, query: EventsQuery) -> EventPage:
    """The events after an offset, oldest first (contract §9).

    Needs `social:chat.read` and membership. 10,000 events or 7 days are kept; an older offset is a 410
    `EVENTS_EXPIRED`, and the client reads a fresh page.
    """
    return await reads.events(call, conversation_id, query.since, query.limit)
