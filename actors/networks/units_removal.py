"""Remove a network: a unit of work, inside the caller's transaction.

Whoever erases a user takes their networks along. Both go the same way from here on: the rows that refer to a network by
a foreign key are deleted with it, memory follows `NetworkRemoved`, and the provider is asked to remove `LeftRecords`.
"""

from collections.abc import Callable

import msgspec

from actors.change import Change
from actors.errors import Conflict, NetworkInUse, NotFound, RevisionConflict
from actors.networks.records import removals
from persistence.connect import servers
from persistence.connection import Connection
from persistence.discord import webhooks
from persistence.networks import dns, domains, networks
from persistence.networks.rows import DnsRow, DnsTask, NetworkRow
from persistence.publications import publications
from persistence.publications.rows import Target


class NetworkRemoved(msgspec.Struct, frozen=True):
    """A network was removed, with all that belongs to it."""

    network_id: str


class LeftRecords(msgspec.Struct, frozen=True):
    """DNS records that a network leaves behind at its provider.

    Args:
        provider: the provider, whose row may be gone by the time the records are removed.
        tasks: the removals of these records.
    """

    provider: DnsRow
    tasks: tuple[DnsTask, ...]


async def remove(
    conn: Connection, network_id: str, owner_id: str, *, is_current: Callable[[NetworkRow], bool]
) -> Change[list[LeftRecords]]:
    """Remove a network that no server is in; its value is what the network leaves at its DNS provider.

    Whoever adds a server, a domain, a publication, an article or a post to the network either is done before, or finds
    none. That takes the locks in their order: what the owner gains, the publication, the network, its queue of posts,
    its domains, its provider.

    Args:
        is_current: whether the stored network is the one that the client has seen.

    Raises:
        NotFound: this user has no such network.
        RevisionConflict: the network has changed since the client saw it.
        NetworkInUse: servers are in it.
        Conflict: a moderator has suppressed its publication; its owner may not undo that by making it afresh.
    """
    target = Target("network", network_id)
    await servers.hold_gains(conn, owner_id)
    await publications.hold(conn, target)
    row = await networks.hold(conn, network_id)
    if row is None or row.owner_id != owner_id:
        raise NotFound
    if not is_current(row):
        raise RevisionConflict
    inside = await networks.count_servers(conn, network_id)
    if inside:
        raise NetworkInUse(servers=inside)
    published = await publications.of_target(conn, target, owner_id)
    if published is not None and published.suppressed:
        raise Conflict("a moderator has suppressed the publication of this network")
    await webhooks.close(conn, network_id)
    await domains.hold(conn, network_id)
    await dns.lock_token(conn, network_id)
    left = await left_records(conn, [network_id])
    await networks.remove(conn, network_id)
    return Change(left, (NetworkRemoved(network_id),))


async def left_records(conn: Connection, network_ids: list[str]) -> list[LeftRecords]:
    """The records that these networks have at their DNS providers: those of their claims, and those of routes whose
    removal is still queued."""
    left: list[LeftRecords] = []
    for network_id in network_ids:
        provider = await dns.read(conn, network_id)
        if provider is None:
            continue
        claims = await domains.of_network(conn, network_id)
        queued = await dns.queued(conn, network_id)
        left.append(LeftRecords(provider, removals(provider, claims, queued)))
    return left
