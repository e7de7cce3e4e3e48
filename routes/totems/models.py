"""Reading totems: the caller's own, the caller's uploads, the gallery, and the models themselves."""

from functools import partial
from typing import Annotated, Any

import msgspec

from actors.errors import NotFound
from actors.ids import ObjectId
from actors.totems.units import shown_to
from persistence.connection import Connection
from persistence.totems import totems
from persistence.totems.totems import Model, Order, Sort
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.principal import PUBLIC
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.totems import ALIAS, PATH, READ
from routes.totems.public import Totem, TotemPage, page_of, shown, totem_of

MAX_OFFSET = 1_000_000


class OwnQuery(Wire, frozen=True):
    """How the caller's totem is answered.

    Args:
        include_model: whether to inline the model, in place of its address.
    """

    include_model: bool = False


class HistoryQuery(Wire, frozen=True):
    """Which page of the history."""

    limit: Annotated[int, Clamp(1, 50)] = 10
    offset: Annotated[int, Clamp(0, MAX_OFFSET)] = 0


class GalleryQuery(Wire, frozen=True):
    """Which page of the gallery.

    Args:
        sort: what they are ordered by.
        order: by default `asc` if sorted by name, else `desc`.
    """

    limit: Annotated[int, Clamp(1, 500)] = 200
    offset: Annotated[int, Clamp(0, MAX_OFFSET)] = 0
    sort: Sort = "selected"
    order: Order | None = None


@endpoint("GET", PATH, needs=READ, aliases=(ALIAS,))
async def read_totem(call: Call, query: OwnQuery) -> Totem:
    """Answers the totem that the caller carries; all null if none.

    With `includeModel` the model is inlined as `itemModel`, and `itemModelUrl` is null.
    """
    model, content = await call.service.database.read(_carried, call.user_id, query.include_model)
    if model is None:
        return Totem()
    if content is None:
        return totem_of(model)
    return Totem(**{**shown(model), "item_model_url": None, "item_model": msgspec.Raw(content)})


async def _carried(conn: Connection, user_id: str, with_content: bool) -> tuple[Model | None, bytes | None]:
    model = await totems.selected_by(conn, user_id)
    if model is None or not with_content:
        return model, None
    return model, await totems.content_of(conn, model.id)


@endpoint("GET", PATH + "/history", needs=READ, aliases=(ALIAS + "/history",))
async def read_totem_history(call: Call, query: HistoryQuery) -> TotemPage:
    """Answers the caller's uploads, newest first: the newest 50, and older ones that a user still carries or
    has bought, or that the shop sells."""
    read = partial(totems.uploaded_by, limit=query.limit, offset=query.offset)
    return page_of(await call.service.database.read(read, call.user_id))


@endpoint("GET", PATH + "/gallery", needs=READ, aliases=(ALIAS + "/gallery",))
async def read_totem_gallery(call: Call, query: GalleryQuery) -> TotemPage:
    """Answers the uploads of all users; an empty page if the gallery is switched off."""
    if not call.service.config.totem_gallery:
        return TotemPage([], 0)
    order = query.order or ("asc" if query.sort == "name" else "desc")
    read = partial(totems.gallery, limit=query.limit, offset=query.offset)
    return page_of(await call.service.database.read(read, query.sort, order))


@endpoint(
    "GET",
    PATH + "/model/{itemModelId}",
    needs=READ,
    aliases=(ALIAS + "/model/{itemModelId}",),
    refusals=(NotFound,),
)
async def read_totem_model(call: Call, item_model_id: ObjectId) -> Totem:
    """Answers a totem with its model inlined: the caller's own, one that any user carries, one that the caller has
    bought, or, if the gallery is on, any. Others are a 404.
    """
    find = partial(shown_to, gallery=call.service.config.totem_gallery)

    async def read(conn: Connection) -> tuple[Model, bytes]:
        model = await find(conn, call.user_id, item_model_id, call.now_ms)
        return model, await _content_of(conn, model)

    model, content = await call.service.database.read(read)
    return Totem(**shown(model), item_model=msgspec.Raw(content))


@endpoint(
    "GET",
    "/v1/public/totems/{itemModelId}",
    needs=PUBLIC,
    cacheable="public, max-age=3600",
    refusals=(NotFound,),
)
async def read_public_totem(call: Call, item_model_id: ObjectId) -> Encoded[dict[str, Any]]:
    """Answers the model that `itemModelUrl` names, as JSON in its own format: one that any user carries, or, if the
    gallery is on, any.
    """
    gallery = call.service.config.totem_gallery

    async def read(conn: Connection) -> bytes:
        return await _content_of(conn, await totems.visible(conn, item_model_id, None, gallery=gallery))

    return Encoded(await call.service.database.read(read))


async def _content_of(conn: Connection, model: Model | None) -> bytes:
    content = None if model is None else await totems.content_of(conn, model.id)
    if content is None:
        raise NotFound("no such totem")
    return content
