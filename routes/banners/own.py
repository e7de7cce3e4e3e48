"""The caller's own banners (contract §10)."""

from functools import partial
from typing import Annotated

import msgspec

from actors.banners import designs, units
from actors.bounds import ShortText, ruled
from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.ids import ObjectId
from actors.texts import line
from actors.time import iso
from persistence.banners.banners import Banner, list_owned
from routes.banners.entries import BannerLayer, DesignName, layers_of, picture_url
from routes.banners.parts import drawn
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY

NAME_MAX = 64
"""Most characters of a banner's name."""

BODY_MAX_BYTES = 16 * 1024
"""The largest request body."""

_PATH = "/v1/profile/build-moe/banners"

_PAGES = Cursor("banners", tuple[int, str])


class BannerBody(Wire, frozen=True):
    """A banner to be drawn.

    Args:
        name: 1 to 64 characters, one line.
        base_color: one of the sixteen dyes.
        patterns: at most 6, the lowest first.
    """

    name: Annotated[ShortText, ruled(minLength=1, maxLength=NAME_MAX)]
    base_color: Annotated[DesignName, ruled(enum=list(designs.DYES))]
    patterns: Annotated[
        tuple[BannerLayer, ...], msgspec.Meta(max_length=100), ruled(maxItems=designs.LAYERS_MAX)
    ] = ()


class BannerEntry(Wire, frozen=True):
    """A banner.

    Args:
        base_color: the dye of the cloth.
        patterns: its layers, the lowest first.
        image_url: its picture, PNG, 200x400.
    """

    id: ObjectId
    name: str
    base_color: str
    patterns: list[BannerLayer]
    image_url: str
    created_at: str


class BannersPage(Wire, frozen=True):
    """A page of banners, newest first."""

    items: list[BannerEntry]
    next_cursor: str | None
    has_more: bool


@endpoint(
    "POST",
    _PATH,
    needs=AUTHENTICATED,
    status=201,
    max_bytes=BODY_MAX_BYTES,
    refusals=(Invalid, NotFound, QuotaExceeded),
)
async def design_banner(call: Call, body: BannerBody) -> BannerEntry:
    """Draws a banner and keeps it.

    A user may keep as many as `profile:banners.max` grants, by default 100. The same design again has the same
    picture. An unknown pattern or dye is a 422 `UNKNOWN_VALUE`.
    """
    name = line(body.name.strip(), "/name", NAME_MAX)
    design = designs.checked(body.base_color, [(layer.pattern, layer.color) for layer in body.patterns])
    picture = await drawn(call, design)
    maximum = units.capacity(await call.service.of(USER_DIRECTORY).access_of(call.user_id))
    banner = Banner(call.new_id(), call.user_id, name, design, call.now_ms)
    shape = partial(_entry, call.service.config.base_url)
    return await change(call, units.keep, banner, picture, maximum, about=None, shape=shape)


@endpoint("GET", _PATH, needs=AUTHENTICATED)
async def list_banners(call: Call, query: PageQuery) -> BannersPage:
    """The caller's banners, newest first."""
    before = _PAGES.place(query.cursor)
    found = await call.service.database.read(list_owned, call.user_id, before, query.limit + 1)
    page = _PAGES.page(found, query.limit, _place_of)
    entries = [_entry(call.service.config.base_url, banner) for banner in page.rows]
    return BannersPage(entries, page.next_cursor, page.has_more)


@endpoint("DELETE", _PATH + "/{id}", needs=AUTHENTICATED, refusals=(NotFound,))
async def delete_banner(call: Call, id: ObjectId) -> None:
    """Removes a banner of the caller, and its picture. Answers 204."""
    await change(call, units.remove, call.user_id, id, about=None)


def _place_of(banner: Banner) -> tuple[int, str]:
    return banner.created_at_ms, banner.id


def _entry(base_url: str, banner: Banner) -> BannerEntry:
    return BannerEntry(
        ObjectId(banner.id),
        banner.name,
        banner.design.base_color,
        layers_of(banner.design),
        picture_url(base_url, banner.id),
        iso(banner.created_at_ms),
    )
