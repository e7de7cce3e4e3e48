"""Capes for everybody: the catalog, one cape, what a user wears, and the pictures (service-api §4 Capes)."""

from typing import Annotated, Literal

import msgspec

from actors.capes.public import find_approved, find_worn, page_approved
from actors.capes.units_moderation import version_of
from actors.errors import NotFound
from actors.ids import UserId, Uuid
from persistence.capes.rows import PictureKind, read_picture
from routes.call import Call
from routes.capes.entries import CapeEntry, CapePage, Paging, entry
from routes.capes.selection import NOTHING_SELECTED, SelectionOut, selection_out
from routes.capes.textures import CAPE_WORKSHOP
from routes.edge.declare.endpoint import endpoint
from routes.edge.errors import Unauthenticated
from routes.edge.identity.credentials import bearer
from routes.edge.principal import PUBLIC
from routes.edge.reply import Blob
from routes.edge.wire import Wire

MODERATE = "capes:moderate"

QUERY_MAX = 100
"""Characters of a search."""

KEPT_VERSION = "public, max-age=86400, immutable"
"""For approved capes by the address of entries, which names the texture's version: nobody asks again for a day.

No longer, because moderators may take a cape away, and what caches hold cannot be called back.
"""

KEPT = "public, max-age=60"
"""For approved capes by their bare address, which another texture may have later: then their ETag tells."""

NOT_KEPT = "no-store"
"""For capes that are not approved, or no longer."""

LISTED = "public, no-cache"
"""Capes come and go: whoever keeps an answer asks each time whether it still holds."""


class CatalogQuery(Paging, frozen=True):
    """`query`: a substring of name, description or creator, in any case. `source`: only `native` is here."""

    query: Annotated[str, msgspec.Meta(max_length=QUERY_MAX)] = ""
    source: Literal["native"] | None = None


class PictureQuery(Wire, frozen=True):
    """`v`: the texture's version, as addresses in entries name it; any other is like none."""

    v: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class WornCape(Wire, frozen=True):
    """What everybody sees a user wear.

    Args:
        selection: all null where none of ours is worn, or none that is approved.
        entry: the cape, or null.
    """

    selection: SelectionOut
    entry: CapeEntry | None


@endpoint("GET", "/v1/public/capes", needs=PUBLIC, cacheable=LISTED)
async def list_capes(call: Call, query: CatalogQuery) -> CapePage:
    """GET /v1/public/capes: approved capes, newest approval first."""
    wanted = query.query.replace("\x1f", " ").strip()
    page = await call.service.database.read(page_approved, wanted, query.limit, query.offset)
    entries = [entry(shown, call.service.config.base_url) for shown in page.capes]
    return CapePage(entries, page.total, query.limit, query.offset)


@endpoint("GET", "/v1/public/capes/{id}", needs=PUBLIC, cacheable=LISTED, refusals=(NotFound,))
async def read_public_cape(call: Call, id: Uuid) -> CapeEntry:
    """GET /v1/public/capes/{id}: one approved cape."""
    shown = await call.service.database.read(find_approved, id)
    return entry(shown, call.service.config.base_url)


@endpoint("GET", "/v1/public/capes/selected/{userId}", needs=PUBLIC, cacheable=LISTED)
async def read_worn_cape(call: Call, user_id: UserId) -> WornCape:
    """GET /v1/public/capes/selected/{userId}: the approved cape that a user wears.

    Where there is none, clients show the vanilla cape or an external one; an unknown user wears none.
    """
    worn = await call.service.database.read(find_worn, user_id)
    if worn is None:
        return WornCape(NOTHING_SELECTED, None)
    shown, selection = worn
    return WornCape(selection_out(selection), entry(shown, call.service.config.base_url))


@endpoint(
    "GET", "/v1/public/capes/{id}/texture.png", needs=PUBLIC, refusals=(NotFound,), produces="image/png"
)
async def read_cape_texture(call: Call, id: Uuid, query: PictureQuery) -> Blob:
    """GET /v1/public/capes/{id}/texture.png: the texture; counts as a download.

    By the address of an entry, which names the texture's version, it may be kept for a day unasked; by the bare address
    for a minute. Not approved, it is there for its owner and for moderators alone, who send their token, and is not
    cached.
    """
    blob = await _picture(call, id, "texture", query)
    if blob.cache_control != NOT_KEPT and call.header(b"if-none-match") is None:
        call.service.of(CAPE_WORKSHOP).downloads.count(id)
    return blob


@endpoint(
    "GET", "/v1/public/capes/{id}/preview.png", needs=PUBLIC, refusals=(NotFound,), produces="image/png"
)
async def read_cape_preview(call: Call, id: Uuid, query: PictureQuery) -> Blob:
    """GET /v1/public/capes/{id}/preview.png: the cape's front, 80x128; as the texture, but not counted."""
    return await _picture(call, id, "preview", query)


async def _picture(call: Call, id: Uuid, kind: PictureKind, query: PictureQuery) -> Blob:
    picture = await call.service.database.read(read_picture, id, kind)
    if picture is None:
        raise NotFound("no such cape")
    approved = picture.status == "approved"
    if not approved and not await _may_see(call, picture.owner_id):
        raise NotFound("no such cape")
    etag = f"{picture.sha256.hex()}-{kind}"
    kept = KEPT_VERSION if query.v == version_of(picture.sha256) else KEPT
    return Blob(picture.png, "image/png", None, etag, kept if approved else NOT_KEPT)


async def _may_see(call: Call, owner_id: str) -> bool:
    """Whether a token was sent, and is the owner's or a moderator's; a bad one is like none."""
    try:
        token = bearer(call.header(b"authorization"))
        if token is None:
            return False
        user = await call.service.authenticator.user(token)
    except Unauthenticated:
        return False
    return user.user_id == owner_id or user.access.allows(MODERATE)
