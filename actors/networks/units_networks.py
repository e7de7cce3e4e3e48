"""Networks themselves: creating and changing them, and the servers that join (service-api §4, contract §7).

A network is plain rows without an actor: no client watches it live, it changes a few times in its life, and what
belongs to it (servers, domains, publications) is mostly read in joins. Locking its row while a change is decided is
all the ordering it needs. A server that joins is an owner with an actor from then on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from actors.change import Change
from actors.connect.room import require_room
from actors.errors import (
    Invalid,
    JoinTokenExpired,
    JoinTokenUsed,
    NotFound,
    QuotaExceeded,
    RevisionConflict,
    SlugTaken,
)
from actors.field_errors import FieldError
from actors.users.locking import require_user
from persistence.connect import servers
from persistence.connect.rows import ServerRow
from persistence.connection import Connection
from persistence.errors import LimitReached
from persistence.networks import networks
from persistence.networks.rows import NetworkRow, ProfileMode, TokenRow

JOIN_TOKEN_MS = 600_000
"""How long a join token is valid (contract §7)."""

MAX_NETWORKS = 50
"""The most networks of one user."""

MAX_SERVERS = 1_000
"""The most servers in one network."""

_FULL = f"a network has at most {MAX_SERVERS} servers"

MAX_TOKENS = 64
"""The most join tokens kept for one network; the oldest are deleted."""

SLUG_FORM = re.compile(r"[a-z0-9-]{3,32}", re.ASCII)
CODE_FORM = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NetworkChange:
    """The fields to change; UNSET leaves a field as it is, None removes its value."""

    name: str | UnsetType = UNSET
    slug: str | UnsetType | None = UNSET
    public_summary: str | UnsetType | None = UNSET
    public_profile_mode: ProfileMode | UnsetType = UNSET
    public_profile_share_code: str | UnsetType | None = UNSET


async def create(conn: Connection, row: NetworkRow) -> NetworkRow:
    """Create a network; a unit of work for one transaction.

    Raises:
        NotFound: its owner was erased meanwhile.
        QuotaExceeded: its owner has too many.
    """
    await require_user(conn, row.owner_id)
    if len(await networks.of_owner(conn, row.owner_id, MAX_NETWORKS)) >= MAX_NETWORKS:
        raise QuotaExceeded(message=f"a user has at most {MAX_NETWORKS} networks", max=MAX_NETWORKS)
    await networks.create(conn, row)
    return row


async def change(
    conn: Connection,
    network_id: str,
    owner_id: str,
    wish: NetworkChange,
    now_ms: int,
    *,
    is_current: Callable[[NetworkRow], bool],
) -> NetworkRow:
    """Change a network; a unit of work for one transaction. Without an effective change nothing is written.

    Args:
        wish: the changes.
        is_current: whether the stored network is the one that the client has seen and changed.

    Raises:
        NotFound: this user has no such network.
        RevisionConflict: the network has changed since the client saw it.
        Invalid: a field breaks a rule.
        SlugTaken: another network has the slug.
    """
    row = await networks.lock(conn, network_id)
    if row is None or row.owner_id != owner_id:
        raise NotFound
    if not is_current(row):
        raise RevisionConflict
    changed = changed_by(row, wish)
    if changed == row:
        return row
    slug = changed.slug
    if slug is not None and slug != row.slug and await networks.take_slug(conn, slug) is not None:
        raise SlugTaken
    changed = replace(changed, updated_at_ms=now_ms)
    await networks.change(conn, changed)
    return changed


def changed_by(row: NetworkRow, wish: NetworkChange) -> NetworkRow:
    """The network with a change applied; pure.

    Raises:
        Invalid: a field breaks a rule.
    """
    wanted = {
        "name": wish.name,
        "slug": wish.slug,
        "public_summary": wish.public_summary,
        "public_profile_mode": wish.public_profile_mode,
        "public_profile_share_code": wish.public_profile_share_code,
    }
    changed = replace(row, **{name: value for name, value in wanted.items() if value is not UNSET})
    errors = []
    if changed.slug is not None and SLUG_FORM.fullmatch(changed.slug) is None:
        errors.append(FieldError("/slug", "BAD_FORMAT", "3 to 32 of a-z, 0-9 and -"))
    code = changed.public_profile_share_code
    if code is not None and CODE_FORM.fullmatch(code) is None:
        errors.append(FieldError("/publicProfileShareCode", "BAD_FORMAT", "not a share code"))
    if code is None and changed.public_profile_mode == "share_code":
        errors.append(FieldError("/publicProfileShareCode", "REQUIRED", "share_code needs a share code"))
    if errors:
        raise Invalid(*errors)
    return changed


async def issue_token(conn: Connection, token: TokenRow) -> None:
    """Store a network's new join token; a unit of work for one transaction.

    Raises:
        NotFound: there is no such network.
    """
    if await networks.lock(conn, token.network_id) is None:
        raise NotFound
    await networks.add_token(conn, token, keep=MAX_TOKENS)


class ServerJoined(msgspec.Struct, frozen=True):
    """A server was created that is in a network, and owned by the network's owner, from the start."""

    owner_id: str
    server_id: str


async def join(
    conn: Connection, token: bytes, row: ServerRow, *, epoch: str, now_ms: int
) -> Change[ServerRow]:
    """Use up a join token and create a server in its network; a unit of work for one transaction.

    Args:
        token: the SHA-256 digest of the token.
        row: the server; owner and network are filled in here.
        epoch: a fresh name for the server's journal.

    Raises:
        NotFound: there is no such token.
        JoinTokenUsed, JoinTokenExpired: the token was used before, or has expired.
        QuotaExceeded: the network is full, or its owner has as many servers as one user may.
    """
    seen = await networks.of_token(conn, token)
    if seen is None:
        raise NotFound("no such join token")
    await servers.hold_gains(conn, seen.owner_id)
    # The network before the token: who issues another one has the network when the oldest goes for it.
    network = await networks.lock(conn, seen.network_id)
    found = await networks.lock_token(conn, token)
    if network is None or found is None:
        raise NotFound("no such join token")
    if found.used:
        raise JoinTokenUsed
    if found.expires_at_ms <= now_ms:
        raise JoinTokenExpired
    await networks.use_token(conn, token)
    server = await enrol(conn, network, row, epoch=epoch)
    return Change(server, (ServerJoined(network.owner_id, server.server_id),))


async def require_place(conn: Connection, network_id: str) -> None:
    """Check that the network has room for another server.

    Raises:
        QuotaExceeded: the network is full.
    """
    if await networks.count_servers(conn, network_id) >= MAX_SERVERS:
        raise QuotaExceeded(message=_FULL, max=MAX_SERVERS)


async def check_placed(conn: Connection, network_id: str) -> None:
    """Check, in the transaction by which a server has come into the network, that it does not have too many; under
    `servers.hold_gains` of its owner.

    Raises:
        LimitReached: the network has more than `MAX_SERVERS` servers.
    """
    if await networks.count_servers(conn, network_id) > MAX_SERVERS:
        raise LimitReached(_FULL, MAX_SERVERS)


async def enrol(conn: Connection, network: NetworkRow, row: ServerRow, *, epoch: str) -> ServerRow:
    """Create a server in a network, owned by the network's owner; inside a transaction that has locked the network, and
    holds what the owner gains.

    Args:
        row: the server; owner and network are filled in here.
        epoch: a fresh name for the server's journal.

    Raises:
        QuotaExceeded: the network is full, or its owner has as many servers as one user may.
    """
    await require_place(conn, network.network_id)
    await require_room(conn, network.owner_id)
    server = replace(row, owner_id=network.owner_id, network_id=network.network_id)
    await servers.create(conn, server, None, epoch=epoch)
    return server
