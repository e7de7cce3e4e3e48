"""Which artifacts have their bytes in the service's own store, and under which SHA-256. Rows only."""

from collections.abc import Collection

from persistence.connection import Connection


async def put(conn: Connection, artifact_id: str, *, sha256: str, sha512: str) -> None:
    """Store that the service has the bytes of an artifact, whose release the caller has locked.

    Args:
        artifact_id: the artifact's objectId.
        sha256, sha512: the digests of the bytes, in lower-case hexadecimal.
    """
    await conn.execute(
        "UPDATE artifacts SET hosted = true, sha256 = $2, sha512 = $3 WHERE id = $1",
        artifact_id,
        sha256,
        sha512,
    )


async def needed(conn: Connection, sha256s: Collection[str]) -> set[str]:
    """Those of the hashes (SHA-256) whose bytes belong to an artifact that the service stores."""
    rows = await conn.fetch(
        "SELECT DISTINCT sha256 FROM artifacts WHERE hosted AND sha256 = ANY ($1::text[])", list(sha256s)
    )
    return {row["sha256"] for row in rows}
