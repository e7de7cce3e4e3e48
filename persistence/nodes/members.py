"""Nodes that serve together: how one joins, stays, gives shards away and is declared dead. Rows as in `nodes.py`.

A member is `joining` until it hears those that were there before it, `up` while it may own shards, and `leaving` once
it wants to own none. A node without a bus is `alone`, and no other may live beside it.
"""

from collections.abc import Collection, Sequence
from enum import Enum
from typing import NamedTuple

from persistence.connection import Connection
from persistence.nodes.leases import take_leases
from persistence.nodes.nodes import leave, lock_nodes, shorten
from persistence.schema.checks import read_clock

__all__ = ["bury", "drain", "give", "join", "leave", "read", "renew", "resume", "take"]

NOBODY = ""
"""Stands in place of the owner's name in a lease that was given up."""


LATE_SECONDS = 60.0
"""A row that ran out no longer ago may be renewed yet: where the database stood still, whoever begins may be the first
that it answers again, and knows least of all who lives."""

QUIET_SECONDS = 2.5
"""A row that runs out within this time has missed two renewals, since each renewal makes it last five seconds."""


class State(Enum):
    """What a node says of itself."""

    ALONE = "alone"
    JOINING = "joining"
    UP = "up"
    LEAVING = "leaving"


class Member(NamedTuple):
    """The row of a node.

    Args:
        node: the node's name.
        life: the number of its present life, which rises with each start.
        state: see `State`.
        release: the version of the program that it runs, such as 2026.11.30.
        since_ms: when this life began, epoch milliseconds.
        heard: names of the nodes that it hears on the bus.
        sockets: how many live sockets it has open.
        waiting_bytes: how many bytes wait in its fullest link to another node.
        is_quiet: whether it has missed renewals, so that it may be about to be declared dead.
        is_over: whether its row has run out.
        is_drained: whether an operator wants it to own no shards.
    """

    node: str
    life: int
    state: State
    release: str
    since_ms: int
    heard: frozenset[str]
    sockets: int
    waiting_bytes: int
    is_quiet: bool
    is_over: bool
    is_drained: bool = False


class Lease(NamedTuple):
    """The owner of a shard, `NOBODY` when it was given up, and the fence under which the owner writes."""

    node: str
    fence: int


class View(NamedTuple):
    """All nodes and leases at one moment.

    Args:
        members: {name: member} of all nodes.
        leases: {shard: lease} of all shards.
        at_seconds: the moment by the database's clock, epoch seconds.
    """

    members: dict[str, Member]
    leases: dict[int, Lease]
    at_seconds: float


class Joined(NamedTuple):
    """A life that has begun.

    Args:
        life: the number of this life.
        space: the name under which the nodes of this database meet on the bus.
        begun_at_ms: since when at least one node has always lived, epoch milliseconds.
    """

    life: int
    space: str
    begun_at_ms: int


class Unjoined(Enum):
    """Why a node may not join."""

    ALONE = "a node without PARTYLINE_NATS_URL serves this database"
    OTHER_KEYS = "the other nodes have other keys"


class Undrained(Enum):
    """Why a node cannot be drained or resumed."""

    UNKNOWN = "no node of this name lives"
    LAST = "no other node would be left to serve"


class Said(NamedTuple):
    """What a node says of itself with each renewal; `Member` explains the fields."""

    state: State
    heard: Sequence[str]
    sockets: int
    waiting_bytes: int


async def join(
    conn: Connection, node: str, ttl_seconds: float, *, space: str, key_id: str, release: str, now_ms: int
) -> Joined | Unjoined:
    """Begin a life of a node beside others; whatever an earlier life of it owned is given up, under a new fence.

    Members whose rows ran out lately are left to those who can tell whether they live (`Ownership`); one without a bus,
    or with other keys, is dead once its row has run out.

    Waits for commits in flight under those leases. Run in a transaction.

    Args:
        node: the name of this process, unique among those that share the database.
        ttl_seconds: how long the row lasts, by the database's clock.
        space: the name to meet under on the bus, used if this database has none yet.
        key_id: names the keys that this node has; all nodes that live at one time have the same.
        release: the version of the program that this node runs, such as 2026.11.30.
        now_ms: epoch milliseconds.
    """
    await lock_nodes(conn)
    await shorten(conn)
    await _bury_long_over(conn, key_id)
    others = await conn.fetch("SELECT state FROM nodes WHERE node <> $1", node)
    if any(row["state"] == State.ALONE.value for row in others):
        return Unjoined.ALONE
    (common,) = await conn.fetch(
        """
        INSERT INTO cluster (space, key_id, begun_at_ms) VALUES ($1, $2, $4)
        ON CONFLICT (one) DO UPDATE
        SET key_id = CASE WHEN $3 THEN cluster.key_id ELSE excluded.key_id END,
            begun_at_ms = CASE
                WHEN $3 AND cluster.begun_at_ms > 0 THEN cluster.begun_at_ms ELSE excluded.begun_at_ms
            END
        RETURNING space, key_id, begun_at_ms
        """,
        space, key_id, bool(others), now_ms,
    )  # fmt: skip
    if common["key_id"] != key_id:
        return Unjoined.OTHER_KEYS
    await conn.execute("UPDATE leases SET node = $2, fence = fence + 1 WHERE node = $1", node, NOBODY)
    life: int = await conn.fetchval(
        """
        INSERT INTO nodes (node, life, expires_at, state, release, since_ms)
        VALUES ($1, nextval('node_lives'), clock_timestamp() + make_interval(secs => $2), $3, $4, $5)
        ON CONFLICT (node) DO UPDATE
        SET life = excluded.life, expires_at = excluded.expires_at, state = excluded.state,
            release = excluded.release, since_ms = excluded.since_ms, heard = '{}', sockets = 0, waiting_bytes = 0,
            drained = false
        RETURNING life
        """,
        node, ttl_seconds, State.JOINING.value, release, now_ms,
    )  # fmt: skip
    return Joined(life, common["space"], common["begun_at_ms"])


async def _bury_long_over(conn: Connection, key_id: str) -> None:
    await conn.execute(
        """
        DELETE FROM nodes WHERE expires_at < clock_timestamp() AND (
            state = $1
            OR expires_at < clock_timestamp() - make_interval(secs => $2)
            OR EXISTS (SELECT FROM cluster WHERE key_id <> $3)
        )
        """,
        State.ALONE.value, LATE_SECONDS, key_id,
    )  # fmt: skip


async def renew(conn: Connection, node: str, life: int, ttl_seconds: float, said: Said) -> View | None:
    """Extend the row of a member, also one that has run out but was not deleted, and read everything.

    Args:
        life: the number of the life that the node began.
        ttl_seconds: how long the row lasts from now on, by the database's clock.
        said: what the node says of itself from now on.

    Returns: all nodes and leases; None when the node is dead, or lives another life.
    """
    found = await conn.fetchval(
        """
        UPDATE nodes SET expires_at = clock_timestamp() + make_interval(secs => $3), state = $4, heard = $5::text[],
                         sockets = $6, waiting_bytes = $7
        WHERE node = $1 AND life = $2 RETURNING true
        """,
        node, life, ttl_seconds, said.state.value, list(said.heard), said.sockets, said.waiting_bytes,
    )  # fmt: skip
    if found is None:
        return None
    await shorten(conn)
    return await read(conn)


async def read(conn: Connection) -> View:
    """Read which nodes live, and which node owns which shard."""
    rows = await conn.fetch(
        """
        SELECT node, life, state, release, since_ms, heard, sockets, waiting_bytes, drained,
               expires_at < clock_timestamp() + make_interval(secs => $1) AS is_quiet,
               expires_at < clock_timestamp() AS is_over
        FROM nodes ORDER BY node
        """,
        QUIET_SECONDS,
    )
    members = {
        row["node"]: Member(
            row["node"], row["life"], State(row["state"]), row["release"], row["since_ms"],
            frozenset(row["heard"]), row["sockets"], row["waiting_bytes"], row["is_quiet"],
            row["is_over"], row["drained"],
        )
        for row in rows
    }  # fmt: skip
    # By owner, because a thousand rows cost more than three with arrays.
    owned = await conn.fetch(
        "SELECT node, array_agg(shard) AS shards, array_agg(fence) AS fences FROM leases GROUP BY node"
    )
    leases = {
        shard: Lease(row["node"], fence)
        for row in owned
        for shard, fence in zip(row["shards"], row["fences"], strict=True)
    }
    return View(members, leases, await read_clock(conn))


async def drain(conn: Connection, node: str) -> Undrained | None:
    """Have a node own nothing until it is resumed or starts again. Run in a transaction.

    Args:
        node: the node's name.

    Returns: why the node cannot be drained, or None when it is; the node notices with its next renewal.
    """
    await lock_nodes(conn)
    known = {member.node: member for member in (await read(conn)).members.values() if not member.is_over}
    if node not in known:
        return Undrained.UNKNOWN
    if not any(
        member.state is State.UP and not member.is_drained and name != node for name, member in known.items()
    ):
        return Undrained.LAST
    await conn.execute("UPDATE nodes SET drained = true WHERE node = $1", node)
    return None


async def resume(conn: Connection, node: str) -> Undrained | None:
    """Let a node that was drained own shards again; returns why it cannot, or None.

    Args:
        node: the node's name.
    """
    found = await conn.fetchval("UPDATE nodes SET drained = false WHERE node = $1 RETURNING true", node)
    return None if found else Undrained.UNKNOWN


async def bury(conn: Connection) -> None:
    """Declare dead the nodes that have not renewed their row in time; the caller holds the lock of `nodes.py`."""
    await conn.execute("DELETE FROM nodes WHERE expires_at < clock_timestamp()")


async def take(conn: Connection, node: str, life: int, shards: Collection[int]) -> dict[int, int] | None:
    """Declare nodes dead whose row has run out, and take those of the shards that no living node owns, or this one.

    Waits for commits in flight under the leases that are taken. Run in a transaction.

    Args:
        node: the name of this node, which is a member.
        life: the number of the life that it began.
        shards: the shards that it wants.

    Returns: {shard: new fence} of those taken; None when the node itself is dead, or lives another life.
    """
    await lock_nodes(conn)
    await bury(conn)
    if not await conn.fetchval("SELECT EXISTS (SELECT FROM nodes WHERE node = $1 AND life = $2)", node, life):
        return None
    return await take_leases(conn, node, shards)


async def give(conn: Connection, node: str, to: str, fences: dict[int, int]) -> dict[int, int]:
    """Give shards to another node; there is no moment in which they have no owner.

    Waits for every commit in flight under their leases, so also for those whose outcome the giver does not know.

    Args:
        node: the name of the giver.
        to: the name of the receiver; if it has died meanwhile, its shards are taken over like those of any dead node.
        fences: {shard: fence} under which the giver owns the shards.

    Returns: {shard: new fence} of those given; the others did not belong to the giver any more.
    """
    rows = await conn.fetch(
        """
        UPDATE leases SET node = $2, fence = leases.fence + 1
        FROM unnest($3::integer[], $4::bigint[]) AS own (shard, fence)
        WHERE leases.shard = own.shard AND leases.fence = own.fence AND leases.node = $1
        RETURNING leases.shard, leases.fence
        """,
        node, to, list(fences), list(fences.values()),
    )  # fmt: skip
    return {row["shard"]: row["fence"] for row in rows}
