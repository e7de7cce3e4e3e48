"""Routes that share launcher profiles by a code (contract §8)."""

from typing import Annotated

import msgspec

from actors.bounds import JsonObject
from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.texts import line
from actors.time import iso
from actors.users import units_shares
from actors.users.units_shares import MANIFEST_MAX_BYTES, SHARE_TTL_MS
from persistence.users import shares
from persistence.users.shares import Share, ShareHead
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.principal import AUTHENTICATED, PUBLIC
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY

NAME_MAX = 100
"""How many characters a name has at most."""

BODY_MAX_BYTES = MANIFEST_MAX_BYTES + 16 * 1024

KEPT = "public, no-cache"
"""Cache-Control of a share: caches must revalidate each time, since a share may be removed."""

_SHARES = "/v1/profile/shares"

_PAGES = Cursor("shares", tuple[int, str])


class NewShare(Wire, frozen=True):
    """A profile to share.

    Args:
        name: 1 to 100 printable characters.
        manifest: any JSON object of at most 128 KiB; the server stores it without interpreting it.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=NAME_MAX)]
    manifest: JsonObject


class ShareEntry(Wire, frozen=True):
    """A shared profile, without its manifest.

    Args:
        code: 12 characters in groups of four.
        expires_at: when the share ends.
    """

    code: str
    name: str
    created_at: str
    expires_at: str


class SharesPage(Wire, frozen=True):
    """A page of the caller's shares that have not expired, the newest first."""

    items: list[ShareEntry]
    next_cursor: str | None
    has_more: bool


class SharedProfile(Wire, frozen=True):
    """A shared profile.

    Args:
        code: the code under which it is shared.
        manifest: the launcher profile, as it was shared.
    """

    code: str
    name: str
    manifest: JsonObject
    created_at: str
    expires_at: str


@endpoint(
    "POST",
    _SHARES,
    needs=AUTHENTICATED,
    status=201,
    max_bytes=BODY_MAX_BYTES,
    refusals=(NotFound, Invalid, QuotaExceeded),
)
async def share_profile(call: Call, body: NewShare) -> ShareEntry:
    """Shares a launcher profile for 90 days.

    Answers 201 with the code. A user may have as many shares as `profile-share.max` grants, by default 10. An invalid
    name or manifest is a 422.
    """
    name = line(body.name.strip(), "/name", NAME_MAX)
    manifest = units_shares.json_object(body.manifest, "/manifest", MANIFEST_MAX_BYTES)
    maximum = units_shares.capacity(await call.service.of(USER_DIRECTORY).access_of(call.user_id))
    code, now_ms = units_shares.new_code(call.service.random_bytes), call.now_ms
    share = Share(ShareHead(code, name, now_ms, now_ms + SHARE_TTL_MS), manifest)
    return await change(call, units_shares.add, call.user_id, share, maximum, about=None, shape=_entry)


@endpoint("GET", _SHARES, needs=AUTHENTICATED)
async def list_shares(call: Call, query: PageQuery) -> SharesPage:
    """The caller's shared profiles, the newest first."""
    before = _PAGES.place(query.cursor)
    read = call.service.database.read
    found = await read(shares.of_user, call.user_id, call.now_ms, before, query.limit + 1)
    page = _PAGES.page(found, query.limit, _place_of)
    return SharesPage([_entry(head) for head in page.rows], page.next_cursor, page.has_more)


@endpoint("DELETE", _SHARES + "/{code}", needs=AUTHENTICATED, refusals=(NotFound,))
async def unshare_profile(call: Call, code: str) -> None:
    """Ends a share. Answers 204."""
    await change(call, units_shares.remove, call.user_id, code.upper(), call.now_ms, about=None)


@endpoint("GET", "/v1/public/profile-shares/{code}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_shared_profile(call: Call, code: str) -> SharedProfile:
    """A shared profile, for any client that has its code.

    An unknown or expired code is a 404.
    """
    share = await call.service.database.read(shares.read, code.upper(), call.now_ms)
    if share is None:
        raise NotFound("no such share")
    head = share.head
    manifest = msgspec.Raw(share.manifest)
    return SharedProfile(head.code, head.name, manifest, iso(head.created_at_ms), iso(head.expires_at_ms))


def _place_of(head: ShareHead) -> tuple[int, str]:
    return head.created_at_ms, head.code


def _entry(head: ShareHead) -> ShareEntry:
    return ShareEntry(head.code, head.name, iso(head.created_at_ms), iso(head.expires_at_ms))
