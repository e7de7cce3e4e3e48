"""DNS providers of networks, and the queue of records that are to be written there."""

from collections.abc import Sequence
from typing import NamedTuple

from persistence.connection import Connection
from persistence.networks.rows import DnsRow, DnsTask


async def read(conn: Connection, network_id: str) -> DnsRow | None:
    """A network's DNS provider, or None."""
    row = await conn.fetchrow(
        """
        SELECT network_id, zone_id, zone_name, sealed_token, token_status, created_at_ms, updated_at_ms
        FROM network_dns WHERE network_id = $1
        """,
        network_id,
    )
    return None if row is None else DnsRow(**dict(row))


async def lock_token(conn: Connection, network_id: str) -> bytes | None:
    """The sealed token of a network's DNS provider, or None. Until the transaction ends the provider stays as it is,
    and no other transaction adds, finishes or deletes its tasks.

    A token is sealed anew whenever a provider is stored, so a different sealed token means a different provider.
    """
    token: bytes | None = await conn.fetchval(
        "SELECT sealed_token FROM network_dns WHERE network_id = $1 FOR UPDATE", network_id
    )
    return token


async def hold_provider(conn: Connection, network_id: str) -> None:
    """Let a network get no provider until the transaction ends, which adds something that would have records there:
    whoever stores the provider queues the records of all that is there, and waits for this."""
    await conn.execute(
        "SELECT pg_advisory_xact_lock_shared(hashtextextended('records of ' || $1, 0))", network_id
    )


async def close(conn: Connection, network_id: str) -> None:
    """Let nobody hold a network's provider until the transaction ends; waits for those who do."""
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('records of ' || $1, 0))", network_id)


async def put(conn: Connection, row: DnsRow) -> None:
    """Store a network's provider in place of a former one, whose open tasks are deleted."""
    await lock_token(conn, row.network_id)
    await conn.execute("DELETE FROM network_dns_tasks WHERE network_id = $1", row.network_id)
    await conn.execute(
        """
        INSERT INTO network_dns
               (network_id, zone_id, zone_name, sealed_token, token_status, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT (network_id) DO UPDATE SET zone_id = excluded.zone_id, zone_name = excluded.zone_name,
               sealed_token = excluded.sealed_token, token_status = excluded.token_status,
               updated_at_ms = excluded.updated_at_ms
        """,
        row.network_id, row.zone_id, row.zone_name, row.sealed_token, row.token_status, row.created_at_ms,
        row.updated_at_ms,
    )  # fmt: skip


async def set_status(conn: Connection, network_id: str, status: str, now_ms: int) -> None:
    """Store whether the provider accepts the network's token; without effect when the status is the same.

    Args:
        status: `active`, or what the provider last refused, such as `insufficient_scope`.
        now_ms: epoch milliseconds.
    """
    await conn.execute(
        """
        UPDATE network_dns SET token_status = $2, updated_at_ms = $3
        WHERE network_id = $1 AND token_status <> $2
        """,
        network_id,
        status,
        now_ms,
    )


async def remove(conn: Connection, network_id: str) -> bool:
    """Delete a network's provider; returns whether there was one."""
    return await conn.execute("DELETE FROM network_dns WHERE network_id = $1", network_id) == "DELETE 1"


async def add_tasks(conn: Connection, tasks: Sequence[DnsTask]) -> None:
    """Queue DNS records to be written; each task replaces an earlier one for the same record.

    Tasks of networks without a provider are ignored.
    """
    await conn.executemany(
        """
        INSERT INTO network_dns_tasks (network_id, type, name, content, due_at_ms)
        SELECT $1, $2, $3, $4, $5 WHERE EXISTS (SELECT FROM network_dns WHERE network_id = $1 FOR KEY SHARE)
        ON CONFLICT (network_id, type, name) DO UPDATE SET content = excluded.content, attempts = 0,
               due_at_ms = excluded.due_at_ms
        """,
        [(task.network_id, task.type, task.name, task.content, task.due_at_ms) for task in tasks],
    )


class DueNetwork(NamedTuple):
    """A network with due tasks, and since when the oldest of them is due (epoch milliseconds)."""

    due_at_ms: int
    network_id: str


async def due_networks(
    conn: Connection, after: DueNetwork | None, now_ms: int, limit: int
) -> list[DueNetwork]:
    """Networks with due tasks, the longest waiting first.

    Args:
        after: the last one of the page before; None from the start.
        now_ms: epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT min(due_at_ms), network_id FROM network_dns_tasks WHERE due_at_ms <= $3
        GROUP BY network_id HAVING (min(due_at_ms), network_id) > ($1, $2)
        ORDER BY min(due_at_ms), network_id LIMIT $4
        """,
        *(after or DueNetwork(-1, "")),
        now_ms,
        limit,
    )
    return [DueNetwork(*row) for row in rows]


async def due_tasks(conn: Connection, network_id: str, now_ms: int, limit: int) -> list[DnsTask]:
    """A network's due tasks, the longest waiting first.

    Args:
        now_ms: epoch milliseconds.
        limit: at most so many.
    """
    rows = await conn.fetch(
        """
        SELECT network_id, type, name, content, due_at_ms, attempts FROM network_dns_tasks
        WHERE network_id = $1 AND due_at_ms <= $2 ORDER BY due_at_ms, type DESC, name LIMIT $3
        """,
        network_id,
        now_ms,
        limit,
    )
    return [DnsTask(*row) for row in rows]


async def queued(conn: Connection, network_id: str) -> list[DnsTask]:
    """All tasks of a network, due or not, the longest waiting first."""
    rows = await conn.fetch(
        """
        SELECT network_id, type, name, content, due_at_ms, attempts FROM network_dns_tasks
        WHERE network_id = $1 ORDER BY due_at_ms, type DESC, name
        """,
        network_id,
    )
    return [DnsTask(*row) for row in rows]


class Claim(NamedTuple):
    """Tasks that one node writes, and no other meanwhile.

    Args:
        provider: the network's provider as it was when they were taken.
        until_ms: when the claim ends by itself, epoch milliseconds; it is known by that.
    """

    provider: DnsRow
    tasks: list[DnsTask]
    until_ms: int


async def claim(conn: Connection, network_id: str, limit: int, *, now_ms: int, until_ms: int) -> Claim | None:
    """Take a network's due tasks to write them; None where none is due, or somebody else writes records of the network.

    Args:
        limit: at most so many.
        now_ms: epoch milliseconds.
        until_ms: when the claim ends, unless it is released before, epoch milliseconds.
    """
    # Its row is locked as by `lock_token`, so that of two who come at once the second sees the claim of the first.
    taken = await conn.execute(
        "UPDATE network_dns SET writing_until_ms = $3 WHERE network_id = $1 AND writing_until_ms <= $2",
        network_id,
        now_ms,
        until_ms,
    )
    provider = await read(conn, network_id) if taken == "UPDATE 1" else None
    if provider is None:
        return None
    made = Claim(provider, await due_tasks(conn, network_id, now_ms, limit), until_ms)
    if not made.tasks:
        await release(conn, network_id, until_ms)
        return None
    return made


async def release(conn: Connection, network_id: str, until_ms: int) -> None:
    """End a claim, unless it has ended by itself and another was made since.

    Args:
        until_ms: when it ends by itself, epoch milliseconds.
    """
    await conn.execute(
        "UPDATE network_dns SET writing_until_ms = 0 WHERE network_id = $1 AND writing_until_ms = $2",
        network_id,
        until_ms,
    )


async def finish_tasks(conn: Connection, done: Sequence[DnsTask], later: Sequence[DnsTask]) -> None:
    """Delete completed tasks and postpone failed ones, unless a newer task for the same record has replaced them.

    Args:
        done: the completed tasks.
        later: the failed tasks, with their new number of attempts and the time of the next attempt.
    """
    await conn.executemany(
        """
        DELETE FROM network_dns_tasks
        WHERE network_id = $1 AND type = $2 AND name = $3 AND content IS NOT DISTINCT FROM $4
        """,
        [(task.network_id, task.type, task.name, task.content) for task in done],
    )
    await conn.executemany(
        """
        UPDATE network_dns_tasks SET attempts = $5, due_at_ms = $6
        WHERE network_id = $1 AND type = $2 AND name = $3 AND content IS NOT DISTINCT FROM $4
        """,
        [
            (task.network_id, task.type, task.name, task.content, task.attempts, task.due_at_ms)
            for task in later
        ],
    )
