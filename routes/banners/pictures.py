"""The pictures of banners (contract §10)."""

import hashlib

from actors.errors import NotFound
from actors.ids import ObjectId
from persistence.banners.banners import Design, read_picture
from persistence.catalogs.items import read_item
from persistence.connection import Connection
from routes.banners.entries import PICTURE
from routes.banners.parts import drawn
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.edge.reply import Blob

KEPT = "public, max-age=86400, immutable"
"""Cache-Control of a user's banner, which never changes. For a day only, since owners delete banners, and cached copies
cannot be recalled."""

KEPT_CATALOG = "public, max-age=3600"
"""Cache-Control of a catalog's banner: an import may give it another design."""


@endpoint("GET", PICTURE, needs=PUBLIC, refusals=(NotFound,), produces="image/png")
async def read_banner_picture(call: Call, id: ObjectId) -> Blob:
    """The picture of a banner of a user or of a catalog, 200x400 pixels.

    A user's banner never changes, and may be cached for a day without revalidation, one of a catalog for an hour.
    """
    found = await call.service.database.read(_find, id)
    if isinstance(found, Design):
        return _blob(await drawn(call, found), KEPT_CATALOG)
    if found is None:
        raise NotFound("no such banner")
    return _blob(found, KEPT)


async def _find(conn: Connection, id: str) -> bytes | Design | None:
    """The stored picture, or the design of a banner that is drawn for each answer."""
    picture = await read_picture(conn, id)
    if picture is not None:
        return picture
    item = await read_item(conn, "banner", id)
    return None if item is None else item.design


def _blob(picture: bytes, cache_control: str) -> Blob:
    return Blob(picture, "image/png", None, hashlib.sha256(picture).hexdigest()[:32], cache_control)
