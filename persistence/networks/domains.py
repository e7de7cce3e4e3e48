"""Networks' claims of domains, in rows."""

from collections.abc import Collection

from persistence.connection import Connection
from persistence.networks.rows import DomainRow

_OF_NETWORK = """
SELECT id, network_id, domain, token, status, verified_at_ms, confirmed_at_ms, last_checked_at_ms,
       verification_errors, observed, created_at_ms, updated_at_ms
FROM network_domains WHERE network_id = $1 ORDER BY created_at_ms, id
"""
_READ = """
SELECT id, network_id, domain, token, status, verified_at_ms, confirmed_at_ms, last_checked_at_ms,
       verification_errors, observed, created_at_ms, updated_at_ms
FROM network_domains WHERE id = $1 AND network_id = $2
"""
_CLAIMS = """
SELECT id, network_id, domain, token, status, verified_at_ms, confirmed_at_ms, last_checked_at_ms,
       verification_errors, observed, created_at_ms, updated_at_ms
FROM network_domains WHERE domain = $1 AND (id = $2 OR status = 'verified') ORDER BY id FOR NO KEY UPDATE
"""


async def of_network(conn: Connection, network_id: str) -> list[DomainRow]:
    """A network's claims, oldest first."""
    return [DomainRow(**dict(row)) for row in await conn.fetch(_OF_NETWORK, network_id)]


async def hold(conn: Connection, network_id: str) -> None:
    """Lock a network's claims until the transaction ends, in the order in which `lock_claims` does."""
    await conn.execute("SELECT FROM network_domains WHERE network_id = $1 ORDER BY id FOR UPDATE", network_id)


async def read(conn: Connection, id: str, network_id: str) -> DomainRow | None:
    """One claim of a network, or None.

    Args:
        id: the claim's id.
    """
    row = await conn.fetchrow(_READ, id, network_id)
    return None if row is None else DomainRow(**dict(row))


async def lock_claims(conn: Connection, domain: str, id: str) -> list[DomainRow]:
    """The claim with this id and the domain's verified claim, both locked for changes until the transaction ends.

    Concurrent calls for the same domain are serialised.

    Args:
        domain: the domain in its normal form.
        id: the claim's id.
    """
    await conn.execute("SELECT pg_advisory_xact_lock(hashtextextended('domain ' || $1, 0))", domain)
    return [DomainRow(**dict(row)) for row in await conn.fetch(_CLAIMS, domain, id)]


async def add(conn: Connection, row: DomainRow) -> None:
    """Store a new claim."""
    await conn.execute(
        """
        INSERT INTO network_domains (id, network_id, domain, token, created_at_ms, updated_at_ms)
        VALUES ($1, $2, $3, $4, $5, $6)
        """,
        row.id, row.network_id, row.domain, row.token, row.created_at_ms, row.updated_at_ms,
    )  # fmt: skip


async def change(conn: Connection, row: DomainRow) -> None:
    """Write the columns of a claim that a check changes."""
    await conn.execute(
        """
        UPDATE network_domains SET status = $2, verified_at_ms = $3, confirmed_at_ms = $4, last_checked_at_ms = $5,
               verification_errors = $6, observed = $7, updated_at_ms = $8
        WHERE id = $1
        """,
        row.id, row.status, row.verified_at_ms, row.confirmed_at_ms, row.last_checked_at_ms,
        row.verification_errors, row.observed, row.updated_at_ms,
    )  # fmt: skip


async def verified_among(conn: Connection, network_id: str, domains: Collection[str]) -> bool:
    """Whether the network has verified one of these domains. The claim that was found stays verified, and is not
    deleted, until the transaction ends.
    """
    found = await conn.fetchval(
        """
        SELECT id FROM network_domains
        WHERE network_id = $1 AND domain = ANY($2::text[]) AND status = 'verified' LIMIT 1 FOR SHARE
        """,
        network_id,
        list(domains),
    )
    return found is not None


async def covers(conn: Connection, network_id: str, host: str) -> bool:
    """Whether a host lies inside a domain that the network has verified; if so, this stays true until the transaction
    ends.

    Args:
        host: the host's name in lower-case A-labels, without a trailing dot.
    """
    labels = host.split(".")
    return await verified_among(conn, network_id, [".".join(labels[at:]) for at in range(len(labels))])
