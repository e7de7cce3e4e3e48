"""Public routes of capes: the catalog, one cape, the cape that a user wears, and pictures (service-api §4 Capes)."""

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
"""Most characters of a search text."""

KEPT_VERSION = "public, max-age=86400, immutable"
"""Cache-Control of an approved cape's picture whose address names the texture's version: cached for a day.

No longer, because moderators may remove a cape, and cached copies cannot be recalled.
"""

KEPT = "public, max-age=60"
"""Cache-Control of an approved cape's picture without a version in its address. The texture behind that address may
change, so clients revalidate by ETag after a minute."""

NOT_KEPT = "no-store"
"""Cache-Control of the pictures of capes that are not, or no longer, approved."""

LISTED = "public, no-cache"
"""Cache-Control of lists and entries: caches may keep them, but must revalidate each time, since capes come and go."""


class CatalogQuery(Paging, frozen=True):
    """Which capes.

    Args:
        query: a part of name, description or creator, case ignored.
        source: only `native` capes are served here.
    """

    query: Annotated[str, msgspec.Meta(max_length=QUERY_MAX)] = ""
    source: Literal["native"] | None = None


class PictureQuery(Wire, frozen=True):
    """Which version of a picture.

    Args:
        v: the texture's version, as the addresses in entries name it; another version is treated as none.
    """

    v: Annotated[str, msgspec.Meta(max_length=64)] | None = None


class WornCape(Wire, frozen=True):
    """The cape that others see a user wear.

    Args:
        selection: all null if the user wears no cape of this service, or one that is not approved.
        entry: the cape, or null.
    """

    selection: SelectionOut
    entry: CapeEntry | None


@endpoint("GET", "/v1/public/capes", needs=PUBLIC, cacheable=LISTED)
async def list_capes(call: Call, query: CatalogQuery) -> CapePage:
    """Approved capes, newest approval first."""
    wanted = query.query.replace("\x1f", " ").strip()
    page = await call.service.database.read(page_approved, wanted, query.limit, query.offset)
    entries = [entry(shown, call.service.config.base_url) for shown in page.capes]
    return CapePage(entries, page.total, query.limit, query.offset)


@endpoint("GET", "/v1/public/capes/{id}", needs=PUBLIC, cacheable=LISTED, refusals=(NotFound,))
async def read_public_cape(call: Call, id: Uuid) -> CapeEntry:
    """One approved cape."""
    shown = await call.service.database.read(find_approved, id)
    return entry(shown, call.service.config.base_url)


@endpoint("GET", "/v1/public/capes/selected/{userId}", needs=PUBLIC, cacheable=LISTED)
async def read_worn_cape(call: Call, user_id: UserId) -> WornCape:
    """The approved cape that a user wears.

    If there is none, clients show the vanilla cape or an external one. An unknown user wears none.
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
    """The texture; counts as a download.

    Under the address that an entry gives, which names the texture's version, it may be cached for a day without
    revalidation; under the bare address for a minute. A cape that is not approved is served, uncached, only to its
    owner and to moderators, who send their token; to others it is a 404.
    """
    blob = await _picture(call, id, "texture", query)
    if blob.cache_control != NOT_KEPT and call.header(b"if-none-match") is None and not call.is_head:
        call.service.of(CAPE_WORKSHOP).downloads.count(id)
    return blob


@endpoint(
    "GET", "/v1/public/capes/{id}/preview.png", needs=PUBLIC, refusals=(NotFound,), produces="image/png"
)
async def read_cape_preview(call: Call, id: Uuid, query: PictureQuery) -> Blob:
    """The cape's front, 80x128; visible and cached like the texture, but not counted as a download."""
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
    """Whether the caller sent a token of the owner or of a moderator; an invalid token counts as none."""
    try:
        token = bearer(call.header(b"authorization"))
        if token is None:
            return False
        user = await call.service.authenticator.user(token)
    except Unauthenticated:
        return False
    return user.user_id == owner_id or user.access.allows(MODERATE)
