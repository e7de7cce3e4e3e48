"""Routes that list the caller's notifications and mark them as read (contract §5)."""

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
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire

_PAGES = Cursor("notifications", int)


class NotificationPage(Wire, frozen=True):
    """A page of notifications, newest first."""

    items: list[NotificationEntry]
    next_cursor: str | None
    has_more: bool


class ReadBody(Wire, frozen=True):
    """The notifications to mark as read; at least one of the two fields is required.

    Args:
        ids: ids of notifications; unknown ones are ignored.
        before_ms: all that were created before this, epoch milliseconds.
    """

    ids: Annotated[tuple[IdText, ...], msgspec.Meta(max_length=KEPT_MAX)] | None = None
    before_ms: Annotated[int, msgspec.Meta(ge=0, le=MAX_SAFE_INTEGER)] | None = None


class ReadCounts(Wire, frozen=True):
    """The effect of marking.

    Args:
        read: how many notifications became read.
        unread: how many are unread now.
    """

    read: int
    unread: int


@endpoint("GET", "/v1/notifications", needs=AUTHENTICATED)
async def list_notifications(call: Call, query: PageQuery) -> NotificationPage:
    """Lists the caller's notifications, newest first. The newest 500 are kept, for 90 days."""
    read = partial(notifications.newest, below=_PAGES.place(query.cursor), limit=query.limit + 1)
    rows = await call.service.database.read(read, call.user_id)
    page = _PAGES.page(rows, query.limit, lambda row: row.number)
    return NotificationPage([entry(row) for row in page.rows], page.next_cursor, page.has_more)


@endpoint("POST", "/v1/notifications/read", needs=AUTHENTICATED, refusals=(Invalid,))
async def read_notifications(call: Call, body: ReadBody) -> ReadCounts:
    """Marks the caller's notifications as read: those named by `ids`, those created before `beforeMs`, or both."""
    unit = partial(mark, ids=body.ids, before_ms=body.before_ms, now_ms=call.now_ms)
    about = f"notifications {call.user_id}"
    return await change(call, unit, call.user_id, about=about, shape=_counts)


def _counts(marked: Marked) -> ReadCounts:
    return ReadCounts(marked.count, marked.unread)
