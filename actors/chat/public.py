"""The JSON of chat as structs, from which both the bytes and the API documentation are generated.

Names and shapes are those of the service description §2 and contract §4; on the wire they are camelCase. An
optional value is null, never absent. A `Message` is encoded once, when it changes, with every `selected`
false (`records.py`).
"""

from typing import Literal

import msgspec

from actors.polls import Poll


class Public(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all structs that clients send or receive: frozen, camelCase."""


class Mention(Public, kw_only=True, frozen=True):
    """A user named in a message; `label` is what they were called when it was sent.

    Args:
        kind: what is mentioned: only users.
        id: the user's id.
        token: `<@user:uuid>`, as it stands in `content`.
        label: the name to show.
    """

    kind: Literal["user"] = "user"
    id: str
    token: str
    label: str


class Attachment(Public, frozen=True):
    """A file that belongs to a conversation; its bytes are at `url`, for participants only.

    Args:
        url: where members fetch the file.
    """

    id: str
    file_name: str
    content_type: str
    size_bytes: int
    url: str


class Message(Public, frozen=True):
    """One message. Once it is deleted, content, mentions, attachments and poll are empty.

    Args:
        content: the text; mentions stand in it as `<@user:ID>`.
        mentions: the users that the text mentions.
        attachments: the files sent with it.
        poll: the poll that was sent with it; null without one.
        created_at_ms: strictly increasing within a conversation.
        source: `archived` for older history.
        revision: 1 as sent, +1 with each edit.
        client_message_id: chosen by the sender, unique among their messages in this conversation.
        deleted_at: when it was deleted; null while it stands.
    """

    id: str
    conversation_id: str
    sender_id: str
    sender_name: str
    content: str
    mentions: tuple[Mention, ...]
    attachments: tuple[Attachment, ...]
    poll: Poll | None
    created_at: str
    created_at_ms: int
    source: Literal["live", "archived"]
    revision: int
    client_message_id: str | None
    edited_at: str | None
    deleted_at: str | None


class Participant(Public, frozen=True):
    """A member of a conversation; `online` is the presence at the moment when the response was built.

    Args:
        online: whether they show as online to the viewer.
    """

    id: str
    name: str
    online: bool


class LastEvent(Public, frozen=True):
    """The latest event that concerned a message of the conversation.

    Args:
        type: what has happened to the message.
    """

    type: Literal["message_created", "message_edited", "message_deleted", "poll_voted"]
    message_id: str
    actor_id: str
    at_ms: int


class ConversationHead(Public, frozen=True):
    """The part of a conversation that is the same for every viewer: encoded once and shared between them.

    Args:
        kind: `direct` has two members for ever, `group` any number.
        title: groups only, null when none was given.
        owner_id: groups only.
        participants: at most 100: the owner, then the longest-standing.
        participant_count: how many members there are in all.
        last_message_id: the newest message; null before the first.
        last_message_preview: the content cut to 140 characters, else a poll's question, else
            `[attachment] <fileName>`; null before the first message, "" after its deletion.
        last_message_at_ms: when it was sent.
        last_message_sender_id: the user who sent it.
        last_event: what last happened to a message; null before the first.
    """

    id: str
    kind: Literal["direct", "group"]
    title: str | None
    owner_id: str | None
    participants: tuple[Participant, ...]
    participant_count: int
    created_at: str
    updated_at: str
    last_message_id: str | None
    last_message_preview: str | None
    last_message_at_ms: int | None
    last_message_sender_id: str | None
    last_event: LastEvent | None


class Conversation(ConversationHead, frozen=True):
    """A conversation as one viewer sees it; in live message snapshots the four fields below are null.

    Args:
        unread_count: messages of others above the viewer's read marker. Deleted ones count: they keep their place, and
            the viewer has yet to see that something was taken back there. A mention of them that was deleted does not.
        mention_count: of those, the ones that name the viewer; counted up to 200.
        last_read_at_ms: `createdAtMs` of the newest message that the viewer has read.
        muted: whether the viewer has muted it; null where it is shown to everybody alike.
    """

    unread_count: int | None
    mention_count: int | None
    last_read_at_ms: int | None
    muted: bool | None


class MessagePage(Public, frozen=True):
    """The message snapshot: `items` oldest first.

    Args:
        conversation: the conversation as it is now.
        next_before_ms: `createdAtMs` of the oldest item, to be sent as `beforeMs`; 0 when there is no more.
    """

    conversation: Conversation
    items: tuple[Message, ...]
    next_before_ms: int
    has_more: bool


class ConversationList(Public, frozen=True):
    """Conversations of the caller, newest activity first."""

    items: tuple[Conversation, ...]
    next_cursor: str | None
    has_more: bool


class ParticipantList(Public, frozen=True):
    """Members of a conversation, owner first, then longest-standing."""

    items: tuple[Participant, ...]
    next_cursor: str | None
    has_more: bool


class InboxTotals(Public, frozen=True):
    """Sums over all conversations of the user, shown or not.

    Args:
        unread: messages of others that the user has not read.
        mentions: those among them that mention the user.
    """

    unread: int
    mentions: int


class InboxSnapshot(Public, kw_only=True, frozen=True):
    """The frame of the inbox stream: at most 200 conversations, newest activity first.

    Args:
        conversations: the newest conversations, the latest active first.
        totals: over all conversations of the user, also those that are not listed.
        has_more: whether there are older ones, which GET /v1/social/chat/conversations lists.
    """

    type: Literal["inbox_snapshot"] = "inbox_snapshot"
    conversations: tuple[Conversation, ...]
    totals: InboxTotals
    has_more: bool = False


class ConversationGone(Public, frozen=True):
    """The inbox's `conversation_updated` for a conversation that the user is no longer in.

    Args:
        removed: always true.
    """

    id: str
    removed: Literal[True] = True


class ReadMarker(Public, frozen=True):
    """A member's counts and read position after marking messages as read.

    Args:
        unread_count: messages of others that the user has not read.
        mention_count: those among them that mention the user.
    """

    unread_count: int
    mention_count: int
    last_read_at_ms: int | None


class ReadNotice(Public, frozen=True):
    """The `read` event: a member has read up to this message."""

    user_id: str
    message_id: str
    last_read_at_ms: int


class TypingNotice(Public, frozen=True):
    """The `typing` event: the member is writing, until `expiresAtMs` at most.

    Args:
        expires_at_ms: until when to show it, epoch milliseconds.
    """

    user_id: str
    expires_at_ms: int


class OwnChoice(Public, frozen=True):
    """Sent as `self` beside a `poll_updated`, or an edit of a message with a poll: what the viewer has chosen.

    Args:
        selected: ids of the options that they have chosen.
    """

    message_id: str
    selected: tuple[str, ...]


class Revision(Public, frozen=True):
    """One version of a message's text; revision 1 is the text as sent.

    Args:
        revision: the number of the revision that this text was.
        content: the text as it was.
        editor_id: the user who wrote it.
    """

    revision: int
    content: str
    edited_at: str
    editor_id: str


class RevisionList(Public, frozen=True):
    """The versions of a message's text, oldest first; empty once the message is deleted."""

    items: tuple[Revision, ...]


class ConversationEvent(Public, frozen=True):
    """One past event of the conversation channel (contract §9).

    Args:
        offset: its place in the channel, +1 with each event.
        event: what has happened, as on the live channel.
        data: the Message for `message_*` and `poll_updated`, the Conversation for `conversation_updated`.
    """

    offset: int
    event: str
    data: msgspec.Raw
    at_ms: int


class EventPage(Public, frozen=True):
    """Events after an offset, oldest first; more of them follow the last offset when `hasMore`."""

    items: tuple[ConversationEvent, ...]
    epoch: str
    has_more: bool
