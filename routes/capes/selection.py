"""Routes for the cape that the caller wears (service-api §4 Capes)."""

from actors.bounds import UuidText
from actors.capes.units_wearing import select, select_none
from actors.errors import Forbidden, Invalid, NotFound
from actors.id_fields import uuid_in
from actors.time import iso
from persistence.capes.choices import CapeSource, Selection, read_selection
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire


class SelectionOut(Wire, frozen=True):
    """The cape that a user wears; all null if they wear none.

    Args:
        source: where the cape is stored.
        cape_id: the cape.
    """

    source: CapeSource | None
    cape_id: str | None
    updated_at: str | None


class SelectionBody(Wire, frozen=True):
    """The cape to wear.

    Args:
        source: `native`: a cape of this service, approved or the caller's own; `external`: a cape that the launcher
            provides; null: no cape.
        cape_id: uuid; null if `source` is null.
    """

    source: CapeSource | None
    cape_id: UuidText | None = None


NOTHING_SELECTED = SelectionOut(None, None, None)


@endpoint("GET", "/v1/profile/capes/selection", needs=AUTHENTICATED)
async def read_cape_selection(call: Call) -> SelectionOut:
    """The cape that the caller wears."""
    return selection_out(await call.service.database.read(read_selection, call.user_id))


@endpoint("PUT", "/v1/profile/capes/selection", needs=AUTHENTICATED, refusals=(NotFound, Invalid, Forbidden))
async def select_cape(call: Call, body: SelectionBody) -> SelectionOut:
    """Wears a cape, or none.

    A `native` cape that is neither approved nor the caller's own is a 404; others see it only while it is approved. One
    that is on sale, and that the caller has neither made nor bought, is a 403. A `capeId` that is not a uuid is a 422.
    """
    if body.source is None:
        return await change(call, select_none, call.user_id, about=None, shape=selection_out)
    chosen = Selection(body.source, uuid_in(body.cape_id or "", "/capeId"), call.now_ms)
    return await change(call, select, call.user_id, chosen, about=None, shape=selection_out)


def selection_out(selection: Selection | None) -> SelectionOut:
    """A selection in its wire form; None gives all null."""
    if selection is None:
        return NOTHING_SELECTED
    return SelectionOut(selection.source, selection.cape_id, iso(selection.updated_at_ms))
