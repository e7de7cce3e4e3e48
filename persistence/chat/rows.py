"""The rows of chat as they pass between persistence and the actors: plain records, no rules."""

import msgspec


class MessageRow(msgspec.Struct, frozen=True):
    """A row of `messages`.

    Args:
        record: the public JSON of the message, every `selected` false.
        poll_expires_at_ms: the deadline of a poll that is open, epoch milliseconds; None without one.
    """

    conversation_id: str
    seq: int
    id: str
    created_at_ms: int
    sender_id: str
    sender_seq: int
    client_message_id: str | None
    record: bytes
    has_poll: bool
    poll_open: bool
    poll_expires_at_ms: int | None


class PageRow(msgspec.Struct, frozen=True):
    """A message of a page, live or archived, or a record to be replaced."""

    id: str
    created_at_ms: int
    record: bytes
    has_poll: bool
    poll_expires_at_ms: int | None


class ConversationRow(msgspec.Struct, frozen=True):
    """A row of `conversations`."""

    id: str
    kind: str
    title: str | None
    owner_id: str | None
    created_at_ms: int


class MemberRow(msgspec.Struct, frozen=True):
    """A member, with what is counted from other tables.

    Args:
        name: from `users`; `deleted` when there is no such user any more.
        sent: how many messages the member has sent since joining.
        spoke: the member has made the conversation, or written in it since joining.
        mentions: `seq` of the messages with unread mentions of the member, ascending, the newest 200.
    """

    user_id: str
    name: str
    joined_at_ms: int
    joined_seq: int
    muted: bool
    read_seq: int
    read_at_ms: int | None
    own_at_read: int
    sent: int
    spoke: bool
    mentions: tuple[int, ...]


class EntryRow(msgspec.Struct, frozen=True):
    """A conversation as one member finds it in a list.

    Args:
        summary: the summary in the conversation's head row.
        participants: (user id, name), at most 100, owner first, then longest-standing.
        silent: ids of those participants who have neither made the conversation nor written in it.
        mention_count: unread mentions of the member, counted up to 200.
    """

    conversation: ConversationRow
    summary: bytes
    participants: tuple[tuple[str, str], ...]
    silent: tuple[str, ...]
    participant_count: int
    muted: bool
    read_seq: int
    read_at_ms: int | None
    own_at_read: int
    sent: int
    mention_count: int


class CountRow(msgspec.Struct, frozen=True):
    """The counts that unread totals need of a conversation too far down to be listed."""

    conversation_id: str
    updated_at_ms: int
    message_seq: int
    read_seq: int
    own_at_read: int
    sent: int
    mention_count: int


class ReadRow(msgspec.Struct, frozen=True):
    """A member's new read marker."""

    conversation_id: str
    user_id: str
    read_seq: int
    read_at_ms: int | None
    own_at_read: int


class JoinRow(msgspec.Struct, frozen=True):
    """A member to be added, who has read everything before they joined."""

    conversation_id: str
    user_id: str
    joined_at_ms: int
    joined_seq: int


class VoteRow(msgspec.Struct, frozen=True):
    """A user's whole choice in a poll; without options when it was withdrawn."""

    message_id: str
    user_id: str
    option_ids: tuple[str, ...]


class MentionRow(msgspec.Struct, frozen=True):
    """The users whom a message mentions."""

    conversation_id: str
    seq: int
    user_ids: tuple[str, ...]


class RevisionRow(msgspec.Struct, frozen=True):
    """A former text of a message."""

    message_id: str
    revision: int
    content: str
    edited_at_ms: int
    editor_id: str


class AttachmentRow(msgspec.Struct, frozen=True):
    """A row of `attachments`.

    Args:
        sha256: the SHA-256 of the content, 32 bytes; also its name in the blob store.
        used_at_ms, message_id: when a message began to show the attachment, and which one; None until then.
    """

    id: str
    conversation_id: str
    uploader_id: str
    file_name: str
    content_type: str
    size_bytes: int
    sha256: bytes
    created_at_ms: int
    used_at_ms: int | None = None
    message_id: str | None = None


class ArchiveRow(msgspec.Struct, frozen=True):
    """A row of `archived_messages`, to be stored."""

    conversation_id: str
    created_at_ms: int
    id: str
    record: bytes
