"""A user's notifications as a view: the newest 50, the number of unread ones, and offsets that are stored in rows.

Writers only announce that something has changed; the view then reads the rows itself.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, NamedTuple, TypeAlias

import msgspec

from actors.change import Change
from actors.errors import Invalid
from actors.field_errors import FieldError
from actors.kernel.facets import Delta, Forgotten, Rendering
from actors.kernel.kind import Durable, Peek, View
from actors.own_views import owner_only
from actors.time import iso, iso_or_none
from persistence.connection import Connection
from persistence.journal import journal
from persistence.notifications import notifications
from persistence.notifications.kinds import NotificationKind
from persistence.notifications.notifications import OF_PAIR_MAX, Marked, Notification

NAME = "notifications"
"""The name of the view and of its channel."""

SHOWN = 50
"""How many notifications a snapshot has."""


class NotificationEntry(msgspec.Struct, frozen=True, rename="camel"):
    """One notification.

    Args:
        kind: what it is about.
        actor_id: the user who caused it, or null.
        data: its content; the shape depends on the kind.
        read_at: null while it is unread.
    """

    id: str
    kind: NotificationKind
    actor_id: str | None
    data: msgspec.Raw
    created_at: str
    read_at: str | None


class NotificationsSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame of the channel: the newest 50, newest first, and how many of all are unread."""

    type: Literal["notifications_snapshot"] = "notifications_snapshot"
    items: tuple[NotificationEntry, ...]
    unread: int


class NotificationAdded(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `notification_added`; `unread` is how many notifications are unread now.

    Args:
        notification: the new one.
        kept: how many notifications of this kind by this actor are kept: older ones are gone. Null where a new one does
            not remove older ones.
    """

    notification: NotificationEntry
    unread: int
    kept: int | None


class NotificationsRead(msgspec.Struct, frozen=True, rename="camel"):
    """The data of `notifications_read`: the ids that were read together; `unread` is the number of those left.

    Args:
        ids: the notifications that were read.
        read_at: when.
    """

    ids: tuple[str, ...]
    read_at: str
    unread: int


class NotificationsState(msgspec.Struct, frozen=True):
    """One user's notifications.

    Args:
        epoch, offset: the epoch, and the offset of the last change that the state includes.
        items: the newest 50, newest first.
        unread: number of all unread ones.
    """

    user_id: str
    epoch: str
    offset: int
    items: tuple[Notification, ...]
    unread: int


class NotificationsChanged(msgspec.Struct, frozen=True):
    """Notifications of a user were added, read or deleted."""

    user_id: str


class Added(NamedTuple):
    """A notification was added."""

    row: Notification


class Read(NamedTuple):
    """Notifications were marked as read, all at once."""

    rows: tuple[Notification, ...]


Happening: TypeAlias = Added | Read


async def load(conn: Connection, user_id: str) -> NotificationsState | None:
    """Load the state from one consistent read of the rows; None when there is no such user."""
    async with journal.consistent(conn):
        head = await notifications.head_of(conn, user_id)
        items = await notifications.newest(conn, user_id, limit=SHOWN)
        unread = await notifications.count_unread(conn, user_id)
    return None if head is None else NotificationsState(user_id, head.epoch, head.seq, tuple(items), unread)


async def replay(conn: Connection, user_id: str, after: int, upto: int) -> list[tuple[int, Happening]] | None:
    """The events at the offsets above `after` up to `upto`; None when rows that they are made of were deleted."""
    return happenings(await notifications.moved_since(conn, user_id, after, upto), after, upto)


def happenings(rows: Iterable[Notification], after: int, upto: int) -> list[tuple[int, Happening]] | None:
    """Reconstruct the events at the offsets above `after` up to `upto`, in order; None when one of them cannot be.

    Args:
        rows: the user's notifications that moved, in any order; their events at other offsets are ignored.
    """
    added: dict[int, Happening] = {}
    read: dict[int, list[Notification]] = {}
    for row in rows:
        added[row.seq] = Added(row)
        if row.read_seq is not None:
            read.setdefault(row.read_seq, []).append(row)
    told = added | {seq: Read(tuple(sorted(at_once, key=_number))) for seq, at_once in read.items()}
    wanted = range(after + 1, upto + 1)
    return [(seq, told[seq]) for seq in wanted] if all(seq in told for seq in wanted) else None


async def mark(
    conn: Connection, user_id: str, *, ids: Sequence[str] | None, before_ms: int | None, now_ms: int
) -> Change[Marked]:
    """Mark notifications of a user as read: the named ones, those created before a time, or both.

    Args:
        ids: the ids of notifications, of which those that are not the user's are ignored; None to name none.
        before_ms: marks those created before this moment, epoch milliseconds; None for no such bound.
        now_ms: epoch milliseconds.

    Raises:
        Invalid: neither ids nor a time are given.
    """
    if ids is None and before_ms is None:
        raise Invalid(FieldError("", "REQUIRED", "name ids or beforeMs"))
    named = [id.lower() for id in ids or ()]
    marked = await notifications.mark_read(conn, user_id, ids=named, before_ms=before_ms, now_ms=now_ms)
    return Change(marked, (NotificationsChanged(user_id),))


def entry(row: Notification) -> NotificationEntry:
    """The notification as clients see it."""
    return NotificationEntry(
        row.id,
        row.kind,  # type: ignore[arg-type]  # the table holds no other
        row.actor_id,
        msgspec.Raw(row.data),
        iso(row.created_at_ms),
        iso_or_none(row.read_at_ms),
    )


def snapshot(state: NotificationsState, _audience: None) -> NotificationsSnapshot:
    """The frame; the same for all viewers (`_audience`)."""
    return NotificationsSnapshot(items=tuple(map(entry, state.items)), unread=state.unread)


def delta(state: NotificationsState, happening: Happening | str, _audience: None) -> Delta:
    """The event as delta subscribers see it, the same for all viewers (`_audience`).

    Raises:
        Forgotten: something has changed that has no event, such as the deletion of old notifications.
    """
    match happening:
        case Added(row):
            kept = None if row.actor_id is None else OF_PAIR_MAX.get(row.kind)
            return Delta("notification_added", NotificationAdded(entry(row), state.unread, kept))
        case Read(rows):
            ids = tuple(row.id for row in rows)
            read_at = iso(rows[0].read_at_ms or 0)
            return Delta("notifications_read", NotificationsRead(ids, read_at, state.unread))
        case _:
            raise Forgotten


def _take(
    state: NotificationsState, sources: AbstractSet[str], _peek: Peek
) -> tuple[NotificationsState, AbstractSet[str]]:
    return state, sources


async def _reread(conn: Connection, user_id: str, _sources: AbstractSet[str]) -> NotificationsState | None:
    return await load(conn, user_id)


def _absorb(state: NotificationsState, found: NotificationsState | None) -> NotificationsState:
    return found or state


def _position(state: NotificationsState) -> tuple[str, int]:
    return state.epoch, state.offset


def _number(row: Notification) -> int:
    return row.number


NOTIFICATIONS: View[NotificationsState] = View(
    name=NAME,
    load=load,
    reread=_reread,
    take=_take,
    absorb=_absorb,
    rendering=Rendering(audience=owner_only, render=snapshot, render_event=delta),
    durable=Durable(position=_position, replay=replay),
    differing=lambda shown, stored: () if shown == stored else (NAME,),
)
"""The view; a constant, because it needs nothing but the rows."""
