"""All publications as operators see them, and featuring and suppressing one (contract §7)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.errors import Invalid, NotFound
from actors.ids import ObjectId
from actors.publications import units_moderation
from actors.publications.public import Publication, publication_of
from actors.publications.statuses import Status
from actors.publications.units_moderation import REASON_MAX, Judgement
from actors.texts import line
from actors.time import iso
from persistence.publications.moderating import WantedPublications, list_publications, read_publication
from persistence.publications.rows import DiscoveryState, PublicationRow
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.wire import Wire
from routes.gateways.admin import MANAGE
from routes.publications.parts import STATUSES

_PUBLICATIONS = "/v1/admin/connect/publications"
_PAGES = Cursor("publications", tuple[str, str])


class PublicationsQuery(PageQuery, frozen=True):
    """Which publications.

    Args:
        query: the beginning of a display name, case ignored; left out = all.
        state: only in this discovery state.
        featured: only those that are featured, or that are not.
    """

    query: Annotated[str, msgspec.Meta(max_length=100)] = ""
    state: DiscoveryState | None = None
    featured: bool | None = None


class ModeratedPublication(Publication, frozen=True, kw_only=True, rename="camel"):
    """A publication as operators see it.

    Args:
        suppressed: whether it was taken from the list.
    """

    suppressed: bool
    created_at: str
    updated_at: str


class PublicationPage(Wire, frozen=True):
    """A page of publications, by name."""

    items: list[ModeratedPublication]
    next_cursor: str | None
    has_more: bool


class JudgementBody(Wire, frozen=True):
    """What is to become of a publication; a field that is left out stays.

    Args:
        featured: whether it is shown as recommended.
        suppressed: whether it is taken from the list; its owner cannot undo that.
        reason: for the audit trail, at most 500 characters.
    """

    featured: bool | None = None
    suppressed: bool | None = None
    reason: Annotated[str, msgspec.Meta(max_length=REASON_MAX)] | None = None


@endpoint("GET", _PUBLICATIONS, needs=MANAGE)
async def list_all_publications(call: Call, query: PublicationsQuery) -> PublicationPage:
    """All publications by name, also those that are not in the public list, and addresses that users have saved. Needs
    `admin:connect:manage`.
    """
    wanted = WantedPublications(
        prefix=query.query,
        state=query.state,
        featured=query.featured,
        after=_PAGES.place(query.cursor),
        limit=query.limit + 1,
    )
    rows = await call.service.database.read(list_publications, wanted)
    page = _PAGES.page(rows, query.limit, lambda one: (one.name_lower, one.row.id))
    statuses = call.service.of(STATUSES)
    items = [_shown(statuses.of(one.row.target, call.now_ms), one.row) for one in page.rows]
    return PublicationPage(items, page.next_cursor, page.has_more)


async def known_publication(call: Call, id: ObjectId) -> None:
    """Guard: requires that there is such a publication; checked again in the transaction.

    Raises:
        NotFound: there is none.
    """
    if await call.service.database.read(read_publication, id) is None:
        raise NotFound("no such publication")


@endpoint(
    "PATCH", _PUBLICATIONS + "/{id}", needs=MANAGE, refusals=(NotFound, Invalid), guard=known_publication
)
async def judge_publication(call: Call, id: ObjectId, body: JudgementBody) -> ModeratedPublication:
    """Features or suppresses a publication, or takes that back.

    Needs `admin:connect:manage`. The audit trail has what was before, and the reason. A suppressed publication leaves
    the public list at once, and its owner cannot bring it back; nor what else is published at its address, but by those
    who own that. Each of them is taken back by itself.
    """
    reason = (body.reason or "").strip()
    if reason:
        line(reason, "/reason", REASON_MAX)
    said = Judgement(body.featured, body.suppressed, reason or None)
    found = await call.service.database.read(read_publication, id)
    if found is None:
        raise NotFound("no such publication")
    # Looked up now, because a transaction's result is shaped on another thread.
    status = call.service.of(STATUSES).of(found.target, call.now_ms)
    about, shape = f"publication {id}", partial(_shown, status)
    return await change(call, units_moderation.judge, id, said, stamp_of(call), about=about, shape=shape)


def _shown(status: Status, row: PublicationRow) -> ModeratedPublication:
    shown = publication_of(row, status)
    return ModeratedPublication(
        **{name: getattr(shown, name) for name in Publication.__struct_fields__},
        suppressed=row.suppressed,
        created_at=iso(row.created_at_ms),
        updated_at=iso(row.updated_at_ms),
    )
