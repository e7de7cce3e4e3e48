"""The in-memory state of a live conversation: immutable, small, and equal to what its rows would rebuild.

- `window`: the newest 120 messages, fewer where those have more than a megabyte, each with its public JSON as bytes.
  Older ones are read from rows for the one command that needs them (`lookups.py`) and dropped at the next event.
  A window that large messages have left is not filled up again from rows until the next load.
- `members` in order of joining. A member's counts are computed as differences, so that a message costs no row per
  member.
- `archived`: of the archived messages, only those among the newest 120 of all messages.
- `read_notices_sent_ms`, `read_notices_due`, `looked_up` and `doubtful` live in memory only; everything else is in the
  snapshot, or is rebuilt from rows when there is none.
"""

import hashlib
from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import msgspec

from actors.chat.public import LastEvent, ReadNotice
from actors.chat.sight import compact
from actors.chat.window import NO_MESSAGES, Line, Window
from persistence.chat.consent import Consent
from persistence.chat.rows import AttachmentRow

SHOWN_PARTICIPANTS = 100
"""Most participants in a conversation's head (contract §4)."""

MENTIONS_KEPT = 200
"""Most unread mentions counted per member; clients show "99+" long before."""

MAX_MEMBERS = 1_024
"""Most participants of a conversation (contract §4)."""


class Record(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Base of what states and snapshots contain: frozen, and encoded compactly as arrays."""


class Member(Record, frozen=True):
    """A participant, with their read position and what their counts are computed from.

    Args:
        joined_seq: the conversation's message seq when they joined.
        read_seq: everything up to this message seq is read.
        read_at_ms: `createdAtMs` of the newest message that they marked as read.
        own_at_read: how many of their own messages lie at or below `read_seq`, since they joined.
        sent: how many messages they have sent since they joined.
        mentions: seqs above `read_seq` of messages of others that mention them, ascending, the newest 200.
        spoke: they have created the conversation, or written in it since they joined.
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
    mentions: tuple[int, ...] = ()
    spoke: bool = False


class LastMessage(Record, frozen=True):
    """The newest message, as lists show it."""

    id: str
    seq: int
    at_ms: int
    sender_id: str
    preview: str


NOBODY_REFUSES = Consent()


class LookedUp(Record, frozen=True):
    """Rows read for one command (`Need` names them); no other command sees them.

    Args:
        lines: {message id: line} of messages outside the window.
        archived: requested message ids that are in the archive.
        choices: {message id: option ids} that the caller has chosen in polls of `lines` or `original`.
        own_after: {message id: sender_seq of the caller's first message after it}, None without one.
        original: the message that already carries the requested clientMessageId.
        attachments: {attachment id: row} of the requested uploads.
        names: {user id: name} of the requested users; unknown users are absent.
        consent: which of the requested users the caller may not add, and why.
        archive: the archive's newest messages, for `TellArchive` alone.
        told: offsets of the journaled events that carry the requested message.
    """

    lines: dict[str, Line] = {}
    archived: frozenset[str] = frozenset()
    choices: dict[str, tuple[str, ...]] = {}
    own_after: dict[str, int | None] = {}
    original: Line | None = None
    attachments: dict[str, AttachmentRow] = {}
    names: dict[str, str] = {}
    consent: Consent = NOBODY_REFUSES
    archive: "ArchiveTail | None" = None
    told: tuple[int, ...] = ()


class ArchiveTail(Record, frozen=True):
    """The newest archived messages, up to one more than memory takes.

    Args:
        lines: oldest first.
        older_live: rows hold live messages older than those of the window.
    """

    lines: tuple[Line, ...]
    older_live: bool


NOTHING_LOOKED_UP = LookedUp()


# One for all conversations that have none, which is nearly all: states are never changed in place.
NONE_SENT: dict[str, int] = {}
NONE_DUE: dict[str, tuple[int, ReadNotice]] = {}


class State(msgspec.Struct, frozen=True, weakref=True):
    """The state of one conversation.

    Args:
        message_seq: seq of the newest message ever sent.
        last_ms: the newest `createdAtMs` given to any message, archived ones included.
        older_live: rows hold live messages older than those of the window.
        older_archived_ms: `createdAtMs` of the newest archived message that is in rows alone; 0 without one.
        votes: {message id: {user id: option ids}} of the polls in the window.
        deadlines: {message id: expiry in epoch milliseconds} of every open poll that has one.
        read_notices_sent_ms: {reader's id: epoch milliseconds of their last read notice to the others}.
        read_notices_due: {reader's id: (epoch milliseconds when the notice is to be sent, the notice)}.
        doubtful: PostgreSQL has rejected rows of a turn, so that a `clientMessageId` is looked up in all messages, and
            not only in the window.
    """

    id: str
    kind: Literal["direct", "group"]
    title: str | None
    owner_id: str | None
    created_at_ms: int
    updated_at_ms: int
    message_seq: int
    last_ms: int
    members: dict[str, Member]
    window: Window = NO_MESSAGES
    archived: tuple[Line, ...] = ()
    older_live: bool = False
    older_archived_ms: int = 0
    votes: dict[str, dict[str, tuple[str, ...]]] = {}
    deadlines: dict[str, int] = {}
    last_message: LastMessage | None = None
    last_event: LastEvent | None = None
    read_notices_sent_ms: dict[str, int] = msgspec.field(default_factory=lambda: NONE_SENT)
    read_notices_due: dict[str, tuple[int, ReadNotice]] = msgspec.field(default_factory=lambda: NONE_DUE)
    looked_up: LookedUp = NOTHING_LOOKED_UP
    doubtful: bool = False


class Facts(msgspec.Struct, frozen=True):
    """The data from which a `ConversationHead` is rendered, the same for live conversations and for rows.

    Args:
        participants: (user id, name) of at most 100: owner first, then longest-standing.
        silent: ids of those who have neither created the conversation nor written in it: only friends see whether they
            are online (contract §5). In the form that `compact` returns.
    """

    id: str
    kind: Literal["direct", "group"]
    title: str | None
    owner_id: str | None
    created_at_ms: int
    updated_at_ms: int
    participants: tuple[tuple[str, str], ...]
    silent: Collection[str]
    participant_count: int
    last_message: LastMessage | None
    last_event: LastEvent | None


class MemberCounts(msgspec.Struct, frozen=True):
    """The fields of a conversation that belong to one member: unread messages and mentions, read position, muting."""

    unread: int
    mentions: int
    last_read_at_ms: int | None
    muted: bool


class Summary(msgspec.Struct, frozen=True):
    """The part of a conversation that each message changes and that lists show; stored with the journal's head row."""

    updated_at_ms: int
    message_seq: int
    last_ms: int
    last_message: LastMessage | None = None
    last_event: LastEvent | None = None


_SUMMARY = msgspec.json.Decoder(Summary)
_SUMMARY_PREFIX_BYTES = 16


def encode_summary(summary: Summary) -> bytes:
    """Encode a summary for its column: `updated_at_ms` and `message_seq` as 8 big-endian bytes each, so that SQL can
    sort by the first and count with the second, then the JSON of all of it.
    """
    prefix = summary.updated_at_ms.to_bytes(8, "big") + summary.message_seq.to_bytes(8, "big")
    return prefix + msgspec.json.encode(summary)


def decode_summary(kept: bytes) -> Summary:
    """Decode bytes that `encode_summary` made."""
    return _SUMMARY.decode(memoryview(kept)[_SUMMARY_PREFIX_BYTES:])


def summary_of(state: State) -> bytes:
    """Encode the summary of a live conversation."""
    return encode_summary(
        Summary(state.updated_at_ms, state.message_seq, state.last_ms, state.last_message, state.last_event)
    )


def standing(state: State, member: Member) -> MemberCounts:
    """Compute a member's counts: messages above their read marker that are not their own (architecture, Counts)."""
    unread = state.message_seq - member.read_seq - (member.sent - member.own_at_read)
    return MemberCounts(unread, len(member.mentions), member.read_at_ms, member.muted)


def facts(state: State) -> Facts:
    """Collect the data of the head from a live conversation."""
    shown = tuple(_shown(state))
    return Facts(
        id=state.id,
        kind=state.kind,
        title=state.title,
        owner_id=state.owner_id,
        created_at_ms=state.created_at_ms,
        updated_at_ms=state.updated_at_ms,
        participants=shown,
        silent=compact(id for id, _ in shown if not state.members[id].spoke),
        participant_count=len(state.members),
        last_message=state.last_message,
        last_event=state.last_event,
    )


def _shown(state: State) -> Iterator[tuple[str, str]]:
    owner = state.members.get(state.owner_id) if state.owner_id else None
    room = SHOWN_PARTICIPANTS
    if owner is not None:
        yield owner.user_id, owner.name
        room -= 1
    for member in state.members.values():
        if member is owner:
            continue
        if room == 0:
            return
        yield member.user_id, member.name
        room -= 1


def find_line(state: State, message_id: str) -> Line | None:
    """Find a message in the window, else among those read for this command; None when it is in neither.

    The search starts with the newest, because most commands concern recent messages.
    """
    for line in reversed(state.window):
        if line.id == message_id:
            return line
    return state.looked_up.lines.get(message_id)


def participant_key(kind: str, user_ids: Iterable[str]) -> str | None:
    """Digest a participant set, by which its conversation is found again; None for fewer than two users.

    Args:
        kind: `direct` or `group`.
    """
    members = sorted(user_ids)
    if len(members) < 2:
        return None
    return hashlib.sha256("\n".join([kind, *members]).encode()).hexdigest()
