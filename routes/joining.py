"""How this node joins the others of its service, where `PARTYLINE_NATS_URL` says that there may be some."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import structlog
import trio

from actors.kernel.clock import Clock, boot_seconds
from actors.kernel.later import Later
from actors.kernel.nodes.far import Far
from actors.kernel.nodes.giving import PartWith
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.links import TICK_SECONDS, Bus
from actors.kernel.nodes.membership import Membership
from actors.kernel.nodes.ownership import Ownership
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.renewals import ROW_SECONDS
from actors.kernel.supervisor import contained_task
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import DatabaseUnavailable, PersistenceError
from persistence.nodes import members
from persistence.nodes.members import Joined, Unjoined
from routes.clocks import compare
from routes.config.config import Config
from routes.edge.docs.version import VERSION
from routes.edge.identity.keys import Keys
from routes.near import NearBus
from routes.passing_on import PassingOn
from routes.retelling import Retelling

JOIN_SECONDS = 30.0
"""How long a start waits until a node that serves alone is gone, and until the other nodes are heard."""

RETRY_SECONDS = 1.0

CLOCK_MAX_MS = 500
"""Largest difference to the database's clock: times of one conversation come from several nodes."""

LEAVE_SECONDS = 5.0

SPACE_BYTES = 8
"""Random bytes in the name under which the nodes meet on the bus, made by the first node."""

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """This node among others.

    Args:
        membership: the node's row and those of the others, and its links to them.
        ownership: the shards that the node owns.
        far: reaches the actors of other nodes.
        passing_on: passes requests on to other nodes, and answers theirs.
        retelling: tells other nodes of committed events, and hears of theirs.
        near: the shortcut to nodes on the same machine, or None.
        nursery: runs the tasks that end with the node.
        begun_at_ms: since when at least one node has always lived, epoch milliseconds.
    """

    membership: Membership
    ownership: Ownership
    far: Far
    passing_on: PassingOn
    retelling: Retelling
    near: NearBus | None
    nursery: trio.Nursery
    begun_at_ms: int

    def count(self) -> int:
        """How many nodes there are, this one included."""
        return 1 + len(self.membership.peers.names)


async def bow_out(node: Node, part_with: PartWith, seconds: float) -> None:
    """Give away all shards of this node, and stay until no other node depends on it any more.

    Cancellation ends it midway: shards that were not given are free when the node leaves, and what other nodes still
    wait for has an unknown outcome for them.

    Args:
        part_with: has the actors of a shard leave memory.
        seconds: how long to try at most.
    """
    with trio.move_on_after(seconds):
        await node.ownership.step_down(part_with)
        # Once all that was said is acknowledged, everybody knows who owns what, and has its answers.
        while not (node.passing_on.is_idle and node.membership.peers.has_been_heard):  # noqa: ASYNC110 - links tell nobody
            await trio.sleep(TICK_SECONDS)


@asynccontextmanager
async def joined_node(
    config: Config, database: Database, keys: Keys, clock: Clock, name: str
) -> AsyncIterator[Node]:
    """Join the other nodes, and hear of all their events from then on; leave at the end of the block.

    The node owns no shard until `Ownership.rise`. Cancellation makes it leave, too.

    Args:
        config: the configuration, which has a `nats_url`.
        database: the database, migrated.
        keys: the keys, which all nodes have in common.
        name: the name of this node.

    Raises:
        DatabaseUnavailable: the node may not join, or does not hear the others; the message says why.
        NoSocket: the folder for sockets between nodes of this machine cannot be used.
        NodeEnded: raised out of the block: the node was declared dead, or does not reach the others any more.
    """
    # Imported where it is wanted: NATS' client takes a tenth of a second, and 8 MB.
    from persistence.bridge.bus import Bus as NatsBus  # noqa: PLC0415

    await _compare_clocks(database, clock)
    joined = await _join(database, keys, clock, name)
    membership = Membership(database, Life(name, joined.life), now=boot_seconds)
    bus = NatsBus(database.thread, config.nats_url or (), space=joined.space, node=name)
    near = None if config.links_dir is None else NearBus(bus, config.links_dir, name)
    later = Later()
    peers = _peers(membership, keys, near or bus, later)
    membership.link(peers)
    bus.join(taken=peers.links.take, absent=lambda _node: None, ready=peers.links.flush)
    async with AsyncExitStack() as stack:
        nursery = await stack.enter_async_context(trio.open_nursery())
        if near is not None:
            await stack.enter_async_context(near.joined(taken=peers.links.take, ready=peers.links.flush))
        try:
            nursery.start_soon(later.run)
            nursery.start_soon(peers.links.keep)
            await membership.renew()
            nursery.start_soon(membership.keep)
            await _hear_all(membership)

            def spawn(run: Callable[..., Awaitable[None]], *args: object) -> None:
                nursery.start_soon(contained_task, "answering another node", run, *args)

            far = Far(membership.where, peers, spawn, config.request_seconds)
            yield Node(
                membership,
                Ownership(database, membership),
                far,
                PassingOn(membership, spawn),
                Retelling(membership),
                near,
                nursery,
                joined.begun_at_ms,
            )
        finally:
            nursery.cancel_scope.cancel()
            with trio.move_on_after(LEAVE_SECONDS, shield=True):
                await _leave(membership)


def _peers(membership: Membership, keys: Keys, bus: Bus, later: Later) -> Peers:
    return Peers(
        membership.life,
        keys.derive("links between nodes"),
        bus,
        lambda node: membership.failed(f"something that node {node} has told is lost"),
        now=trio.current_time,
        soon=later.call,
    )


async def _compare_clocks(database: Database, clock: Clock) -> None:
    found = await compare(database, clock.now_ms)
    if abs(found.ahead_ms) - found.within_ms > CLOCK_MAX_MS:
        raise DatabaseUnavailable(
            f"this machine's clock is {abs(round(found.ahead_ms))} ms from the database's; nodes need the same time"
        )


async def _join(database: Database, keys: Keys, clock: Clock, name: str) -> Joined:
    # The name is random and not derived from the keys: a copy of the database has the same keys, and may share a NATS.
    space, key_id = secrets.token_hex(SPACE_BYTES), _key_id(keys)
    give_up_at = trio.current_time() + JOIN_SECONDS

    async def unit(conn: Connection) -> Joined | Unjoined:
        return await members.join(
            conn,
            name,
            ROW_SECONDS,
            space=space,
            key_id=key_id,
            release=VERSION,
            now_ms=clock.now_ms(),
        )

    while isinstance(outcome := await database.transact(unit), Unjoined):
        if outcome is Unjoined.OTHER_KEYS or trio.current_time() >= give_up_at:
            raise DatabaseUnavailable(f"this node cannot join: {outcome.value}")
        log.warning("waiting_to_join", node=name, why=outcome.value)
        await trio.sleep(RETRY_SECONDS)
    log.info("node_joins", node=name, life=outcome.life)
    return outcome


def _key_id(keys: Keys) -> str:
    """A name that tells these keys from others and reveals nothing of the secret ones."""
    return f"{keys.key_id}.{keys.master_name}"


async def _hear_all(membership: Membership) -> None:
    missing = await membership.wait_heard(JOIN_SECONDS)
    if missing:
        names = ", ".join(sorted(missing))
        raise DatabaseUnavailable(
            f"this node does not hear {names} over NATS; is PARTYLINE_NATS_URL the same for all?"
        )


async def _leave(membership: Membership) -> None:
    try:
        await membership.leave()
    except PersistenceError as failure:
        log.warning("node_not_left", node=membership.life.node, why=type(failure).__name__)
