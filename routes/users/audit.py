"""The audit trail, for super-admins (service-api §4 Admin)."""

from typing import Annotated

import msgspec

from actors.bounds import ruled
from actors.ids import ObjectId, UserId
from actors.time import iso, parse_iso
from persistence.users.audit import AuditEntry, WantedAudit, read_audit
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.errors import bad_parameter
from routes.edge.incoming import REQUEST_ID
from routes.edge.principal import SUPER_ADMIN
from routes.edge.wire import Wire

NEVER_MS = 2**62
"""A time later than all others, epoch milliseconds."""

_PAGES = Cursor("audit", tuple[int, int])


class AuditQuery(PageQuery, frozen=True):
    """Which entries of the trail.

    Args:
        actor_id: only what this user did.
        target_id: only what was done to this user or thing.
        action: only this action, such as `permission.granted`.
        request_id: only what this request did, by the id that its answer carries, ours or the client's own.
        since: only from this time on.
        before: only before this time.
    """

    actor_id: UserId | None = None
    target_id: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    action: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    request_id: Annotated[str, msgspec.Meta(pattern=rf"^{REQUEST_ID}$(?!\n)", max_length=128)] | None = None
    since: Annotated[str, msgspec.Meta(max_length=40), ruled(format="date-time")] | None = None
    before: Annotated[str, msgspec.Meta(max_length=40), ruled(format="date-time")] | None = None


class AuditItem(Wire, frozen=True):
    """One line of the audit trail.

    Args:
        at: when.
        actor_id: the user who acted; null = the command line.
        actor_name: what the acting user is called now; null for nobody, or once that user was erased.
        action: `permission.granted`, `permission.removed`, `role.added`, `role.removed`, `tokens.revoked`,
            `report.settled`, `allowlist.changed`, `user.erased`, ….
        target_id: who or what it was done to; null for neither.
        target_name: what that is called now; null if it has no name, or is no more.
        detail: the state before and after.
    """

    id: ObjectId
    at: str
    actor_id: str | None
    actor_name: str | None
    action: str
    target_id: str | None
    target_name: str | None
    request_id: str | None
    detail: msgspec.Raw


class AuditPage(Wire, frozen=True):
    """A page of the audit trail, newest first."""

    items: list[AuditItem]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", "/v1/admin/audit", needs=SUPER_ADMIN)
async def read_audit_trail(call: Call, query: AuditQuery) -> AuditPage:
    """Lists the audit trail, newest entries first: all of it, or what somebody did, what was done to somebody, one sort
    of action, what one request did, or a stretch of time."""
    wanted = WantedAudit(
        actor_id=query.actor_id,
        target_id=None if query.target_id is None else query.target_id.lower(),
        action=query.action,
        request_id=query.request_id,
        since_ms=_time(query.since, "since", 0),
        before_ms=_time(query.before, "before", NEVER_MS),
        after=_PAGES.place(query.cursor),
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(read_audit, wanted)
    page = _PAGES.page(rows, query.limit, lambda row: (row.at_ms, row.seq))
    return AuditPage([_item(row) for row in page.rows], page.next_cursor, page.has_more)


def _time(text: str | None, parameter: str, otherwise: int) -> int:
    """A time parameter as epoch milliseconds; `otherwise` if it was left out."""
    if text is None:
        return otherwise
    try:
        return parse_iso(text)
    except ValueError as error:
        raise bad_parameter(parameter, f"is {error}") from None


def _item(entry: AuditEntry) -> AuditItem:
    return AuditItem(
        ObjectId(entry.id),
        iso(entry.at_ms),
        entry.actor_id,
        entry.actor_name,
        entry.action,
        entry.target_id,
        entry.target_name,
        entry.request_id,
        msgspec.Raw(entry.detail),
    )
