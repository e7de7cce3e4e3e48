"""What has happened to a conversation. Journaled events carry all that is needed to apply and to show them
again.

| event               | journaled | rows | audience moves | new snapshot | on the wire                     |
|---------------------|-----------|------|----------------|--------------|---------------------------------|
| MessageCreated      | yes       | yes  | if the first   | yes          | message_created                 |
| MessageEdited       | yes       | yes  |                | yes          | message_edited                  |
| MessageDeleted      | yes       | yes  |                | yes          | message_deleted                 |
| TextReplaced        |           | yes  |                |              |                                 |
| MessageRetold       |           | yes  |                |              |                                 |
| DeletionAudited     |           | yes  |                |              |                                 |
| PollVoted           | yes       | yes  | yes            | yes          | poll_updated                    |
| PollClosed          | yes       | yes  |                | yes          | poll_updated                    |
| MembersAdded        | yes       | yes  | yes            | yes          | conversation_updated            |
| MemberRemoved       | yes       | yes  | yes            | yes          | conversation_updated            |
| ConversationChanged | yes       | yes  |                | yes          | conversation_updated            |
| ReadMarked          |           | yes  |                |              | read                            |
| ReadTold            |           |      |                |              | read                            |
| MuteChanged         |           | yes  |                |              | (the member's inbox)            |
| TypingStarted       |           |      |                |              | typing                          |
| BlockChanged        |           |      |                |              |                                 |
| MemberRenamed       |           |      |                | yes          | conversation_updated            |
| UserErased          | yes       | yes  |                | yes          | conversation_updated            |
| ArchiveSeen         |           |      |                | yes          |                                 |
"""

from typing import ClassVar, Literal, TypeAlias

from actors.chat.public import ReadNotice
from actors.chat.state import Member
from actors.chat.window import Line
from actors.kernel.kind import Event
from persistence.users.audit import Stamp


class MessageCreated(Event, tag="message_created", frozen=True):
    """A message was sent.

    Args:
        line: as it enters the window.
        sender_seq: the sender's message count since they joined, this one included.
        preview: what lists show of it.
        mentioned: users to whom it counts as a mention: the named ones without the sender.
    """

    line: Line
    sender_seq: int
    preview: str
    mentioned: tuple[str, ...] = ()

    @property
    def moves_audience(self) -> bool:  # type: ignore[override]
        """From their first message on a sender shows to everybody, no longer to friends alone (contract §5)."""
        return self.sender_seq == 1

    @property
    def at_ms(self) -> int:
        """When it happened: the message's `createdAtMs`."""
        return self.line.created_at_ms


class MessageEdited(Event, tag="message_edited", frozen=True):
    """The text of a message was replaced.

    Args:
        line: as it is now.
        mentioned: users to whom it now counts as a mention.
    """

    line: Line
    at_ms: int
    preview: str
    mentioned: tuple[str, ...] = ()


class TextReplaced(Event, tag="text_replaced", frozen=True):
    """The text that an edited message had: a revision, and nothing that the journal may keep.

    Args:
        revision: its number.
        since_ms: when it was written.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    message_id: str
    revision: int
    content: str
    since_ms: int
    editor_id: str


class MessageDeleted(Event, tag="message_deleted", frozen=True):
    """A message was soft-deleted: text, revisions, attachments, poll and mentions are gone."""

    line: Line
    at_ms: int
    actor_id: str


class MessageRetold(Event, tag="message_retold", frozen=True):
    """What the journal said of a message is said with this version of it.

    Args:
        offsets: of the committed events that tell of it; those of the turn itself are known to `persist`.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True

    line: Line
    offsets: tuple[int, ...]


class DeletionAudited(Event, tag="deletion_audited", frozen=True):
    """A moderator has deleted a message of another user; goes into the audit trail.

    Args:
        stamp: of the moderator and their request.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    stamp: Stamp
    message_id: str
    sender_id: str


class PollVoted(Event, tag="poll_voted", frozen=True):
    """A member's whole choice is now this; empty when withdrawn."""

    moves_audience: ClassVar[bool] = True

    line: Line
    at_ms: int
    voter_id: str
    option_ids: tuple[str, ...]


class PollClosed(Event, tag="poll_closed", frozen=True):
    """A poll takes no more votes."""

    line: Line
    at_ms: int


class MembersAdded(Event, tag="members_added", frozen=True):
    """Users joined a group, in this order."""

    moves_audience: ClassVar[bool] = True

    members: tuple[Member, ...]
    at_ms: int
    participant_key: str | None


class MemberRemoved(Event, tag="member_removed", frozen=True):
    """A member left or was taken out of a group; `owner_id` is the owner after it."""

    moves_audience: ClassVar[bool] = True

    user_id: str
    at_ms: int
    owner_id: str | None
    participant_key: str | None


class ConversationChanged(Event, tag="conversation_changed", frozen=True):
    """A group has another title."""

    title: str | None
    at_ms: int


class ReadMarked(Event, tag="read_marked", frozen=True):
    """A member has read further.

    Args:
        seq: the conversation's message seq up to which everything is read.
        everyone: the others are told too: few members, and not told within the last second (contract §9).
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    seq: int
    notice: ReadNotice
    own_at_read: int
    at_ms: int
    everyone: bool

    @property
    def user_id(self) -> str:
        """Who has read."""
        return self.notice.user_id


class ReadTold(Event, tag="read_told", frozen=True):
    """The others are told, a second after the last time, how far a member has read meanwhile."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    notice: ReadNotice
    at_ms: int


class MuteChanged(Event, tag="mute_changed", frozen=True):
    """A member muted the conversation for themselves, or no longer."""

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    user_id: str
    muted: bool


class TypingStarted(Event, tag="typing_started", frozen=True):
    """A member writes."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    user_id: str
    expires_at_ms: int


class BlockChanged(Event, tag="block_changed", frozen=True):
    """A member of a direct conversation blocks the other, or no longer."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    user_id: str
    blocked: bool


class MemberRenamed(Event, tag="member_renamed", frozen=True):
    """A member is called otherwise."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str
    name: str


class UserErased(Event, tag="user_erased", frozen=True):
    """A user was erased: what they sent, and what names them, calls them `deleted`.

    Args:
        lines: the messages in memory that are others now.
        preview: of the newest message, where it is one of those.
    """

    rewrites: ClassVar[bool] = True

    user_id: str
    lines: tuple[Line, ...]
    preview: str | None = None


class ArchiveSeen(Event, tag="archive_seen", frozen=True):
    """The archive was looked at again."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    lines: tuple[Line, ...]
    older_live: bool
    older_archived_ms: int


AnyEvent: TypeAlias = (
    MessageCreated
    | MessageEdited
    | TextReplaced
    | MessageDeleted
    | MessageRetold
    | DeletionAudited
    | PollVoted
    | PollClosed
    | MembersAdded
    | MemberRemoved
    | ConversationChanged
    | ReadMarked
    | ReadTold
    | MuteChanged
    | TypingStarted
    | BlockChanged
    | MemberRenamed
    | UserErased
    | ArchiveSeen
)

WireName: TypeAlias = Literal[
    "message_created",
    "message_edited",
    "message_deleted",
    "poll_updated",
    "typing",
    "read",
    "conversation_updated",
]
