"""The public page of a network, by its slug (contract §7)."""

import re

from actors.errors import NotFound
from actors.publications.public import Publication, publication_of
from persistence.connection import Connection
from persistence.networks import networks
from persistence.networks.rows import NetworkRow
from persistence.publications import publications
from persistence.publications.rows import PublicationRow, Target, TargetType
from persistence.users import shares
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.publications.parts import STATUSES

KEPT = "public, max-age=5"
"""Cache-Control of a page; short, since statuses change each second."""

_SLUG = re.compile(r"[a-z0-9-]{3,32}", re.ASCII)


class PublicPage(Wire, frozen=True):
    """What a network shows to all.

    Args:
        public_summary: as its owner wrote it, or null.
        publication: as in the public list, or null while it is not there.
        profile_share_code: of the launcher profile to play with; null where none is shown, or it is shared no longer.
    """

    slug: str
    target_type: TargetType
    target_id: str
    public_summary: str | None
    publication: Publication | None
    profile_share_code: str | None


@endpoint("GET", "/v1/public/connect/slugs/{slug}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_public_page(call: Call, slug: str) -> PublicPage:
    """What the network with this slug shows to all.

    A malformed slug, and one that no network has, is a 404. A slug that was given up is free at once.
    """

    if _SLUG.fullmatch(slug) is None:
        raise NotFound
    found = await call.service.database.read(_read, slug, call.now_ms)
    if found is None:
        raise NotFound
    network, row, shared = found
    status = call.service.of(STATUSES).of(Target("network", network.network_id), call.now_ms)
    return PublicPage(
        slug,
        "network",
        network.network_id,
        network.public_summary,
        None if row is None else publication_of(row, status),
        network.public_profile_share_code if shared else None,
    )


async def _read(
    conn: Connection, slug: str, now_ms: int
) -> tuple[NetworkRow, PublicationRow | None, bool] | None:
    network = await networks.of_slug(conn, slug)
    if network is None:
        return None
    code = network.public_profile_share_code
    shown = network.public_profile_mode == "share_code" and code is not None
    shared = shown and await shares.is_shared(conn, (code or "").upper(), now_ms)
    return network, await publications.listed_of(conn, network.network_id), shared
