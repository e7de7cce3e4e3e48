"""The events of a conversation. Journaled events carry all that is needed to apply them and to show them again.

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
| MemberRenamed       |           |      |                | yes          | conversation_updated            |
| UserErased          | yes       | yes  |                | yes          | (a snapshot)                    |
| PastRewritten       |           |      |                |              | (streams of older pages)        |
| ArchiveSeen         |           |      |                | if it shows  | (a snapshot)                    |
| OlderRowsChanged    |           |      |                |              | (streams of older pages)        |
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
        line: the message as it enters the window.
        sender_seq: the sender's message count since they joined, this one included.
        preview: the text that conversation lists show of it.
        mentioned: users whose mention count it raises: those named in it, without the sender.
    """

    line: Line
    sender_seq: int
    preview: str
    mentioned: tuple[str, ...] = ()

    @property
    def moves_audience(self) -> bool:  # type: ignore[override]
        """True for a sender's first message: from then on all members see their presence, not only friends
        (contract §5).
        """
        return self.sender_seq == 1

    @property
    def at_ms(self) -> int:
        """When the message was posted: its `createdAtMs`, epoch milliseconds."""
        return self.line.created_at_ms


class MessageEdited(Event, tag="message_edited", frozen=True):
    """The text of a message was replaced.

    Args:
        line: the message after the edit.
        mentioned: users whose mention count it raises now.
    """

    line: Line
    at_ms: int
    preview: str
    mentioned: tuple[str, ...] = ()


class TextReplaced(Event, tag="text_replaced", frozen=True):
    """The previous text of an edited message, to be stored as a revision. The journal must not keep it.

    Args:
        revision: the number of that version, from 1.
        since_ms: when that text was written, epoch milliseconds.
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
    """Journaled events of a message are to be rewritten with this version of it, so that no old text remains.

    Args:
        offsets: the offsets of the committed events that carry the message; `persist` finds those of the same turn.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True

    line: Line
    offsets: tuple[int, ...]


class DeletionAudited(Event, tag="deletion_audited", frozen=True):
    """A moderator has deleted another user's message; goes into the audit trail.

    Args:
        stamp: identifies the moderator and their request.
    """

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    stamp: Stamp
    message_id: str
    sender_id: str


class PollVoted(Event, tag="poll_voted", frozen=True):
    """A member's choice in a poll was replaced; `option_ids` is empty when they withdrew it."""

    moves_audience: ClassVar[bool] = True

    line: Line
    at_ms: int
    voter_id: str
    option_ids: tuple[str, ...]

    @property
    def moves_only(self) -> str:  # type: ignore[override]
        """The voter: nobody else sees which options they have chosen."""
        return self.voter_id


class PollClosed(Event, tag="poll_closed", frozen=True):
    """A poll was closed, by hand or because it expired."""

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
    """A group's title was set or removed."""

    title: str | None
    at_ms: int


class ReadMarked(Event, tag="read_marked", frozen=True):
    """A member has marked more messages as read.

    Args:
        seq: the conversation's message seq up to which everything is read.
        own_at_read: how many of the reader's own messages lie at or below `seq`, since they joined.
        everyone: the other members are notified at once: the conversation is small, and no notice of this reader was
            sent within the last second (contract §9).
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
        """The member who has read."""
        return self.notice.user_id


class ReadTold(Event, tag="read_told", frozen=True):
    """A read notice that was held back to keep a second's distance is sent to the other members."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    notice: ReadNotice
    at_ms: int


class MuteChanged(Event, tag="mute_changed", frozen=True):
    """A member muted or unmuted the conversation for themselves."""

    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    user_id: str
    muted: bool


class TypingStarted(Event, tag="typing_started", frozen=True):
    """A member is typing."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False

    user_id: str
    expires_at_ms: int


class MemberRenamed(Event, tag="member_renamed", frozen=True):
    """A member has a new name."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    user_id: str
    name: str


class UserErased(Event, tag="user_erased", frozen=True):
    """A user was erased: messages that they sent, or that mention them, show `deleted` in place of their name.

    Args:
        lines: the messages in memory that lose the user's name.
        preview: the new preview of the newest message if that is one of them, else None.
    """

    rewrites: ClassVar[bool] = True

    user_id: str
    lines: tuple[Line, ...]
    preview: str | None = None


class PastRewritten(Event, tag="past_rewritten", frozen=True):
    """A user was erased whose name is not in memory; only past events may hold it."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False
    rewrites: ClassVar[bool] = True


class ArchiveSeen(Event, tag="archive_seen", frozen=True):
    """The newest messages of the archive are not those that memory had.

    Args:
        lines: archived messages among the newest 120 of all, oldest first.
        older_live: rows hold live messages older than those in memory.
        older_archived_ms: `createdAtMs` of the newest archived message that is in rows alone; 0 without one.
        shows: whether snapshots change: the newest page is another one, or older messages exist now and did not before,
            or the other way round.
    """

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False

    lines: tuple[Line, ...]
    older_live: bool
    older_archived_ms: int
    shows: bool = True

    @property
    def reframes(self) -> bool:  # type: ignore[override]
        """Whether snapshots show the change."""
        return self.shows


class OlderRowsChanged(Event, tag="older_rows_changed", frozen=True):
    """Rows of the archive have changed, but none of its newest messages, which are all that memory has."""

    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False


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
    | MemberRenamed
    | UserErased
    | PastRewritten
    | ArchiveSeen
    | OlderRowsChanged
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
