"""A user's own notifications: listed, and marked as read (contract §5)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.bounds import MAX_SAFE_INTEGER, IdText
from actors.errors import Invalid
from actors.notifications.view import NotificationEntry, entry, mark
from persistence.notifications import notifications
from persistence.notifications.notifications import KEPT_MAX, Marked
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import cursor_number
from routes.edge.declare.query import Clamp
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire


class NotificationQuery(Wire, frozen=True):
    """`cursor`: `nextCursor` of the page before."""

    cursor: str | None = None
    limit: Annotated[int, Clamp(1, 200)] = 50


class NotificationPage(Wire, frozen=True):
    """A page of notifications, newest first."""

    items: list[NotificationEntry]
    next_cursor: str | None
    has_more: bool


class ReadBody(Wire, frozen=True):
    """Which notifications were read; at least one of the two.

    Args:
        ids: these; unknown ones are passed over.
        before_ms: all that were made before this, epoch milliseconds.
    """

    ids: Annotated[tuple[IdText, ...], msgspec.Meta(max_length=KEPT_MAX)] | None = None
    before_ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)] | None = None


class ReadCounts(Wire, frozen=True):
    """What marking has changed.

    Args:
        read: notifications that were unread before.
        unread: those that are unread now.
    """

    read: int
    unread: int


@endpoint("GET", "/v1/notifications", needs=AUTHENTICATED)
async def list_notifications(call: Call, query: NotificationQuery) -> NotificationPage:
    """Lists the caller's notifications, newest first; kept for 90 days, the newest 500."""
    below, limit = cursor_number(query.cursor), query.limit
    read = partial(notifications.newest, below=below, limit=limit + 1)
    rows = await call.service.database.read(read, call.user_id)
    items, more = rows[:limit], len(rows) > limit
    return NotificationPage([entry(row) for row in items], str(items[-1].number) if more else None, more)


@endpoint("POST", "/v1/notifications/read", needs=AUTHENTICATED, refusals=(Invalid,))
async def read_notifications(call: Call, body: ReadBody) -> ReadCounts:
    """Marks the caller's notifications as read: those named by `ids`, those made before `beforeMs`, or both."""
    unit = partial(mark, ids=body.ids, before_ms=body.before_ms, now_ms=call.now_ms)
    about = f"notifications {call.user_id}"
    return await change(call, unit, call.user_id, about=about, shape=_counts)


def _counts(marked: Marked) -> ReadCounts:
    return ReadCounts(marked.count, marked.unread)
