"""The bytes of artifacts that are here, under their SHA-256. Rows only."""

from collections.abc import Collection

from persistence.connection import Connection


async def put(conn: Connection, artifact_id: str, *, sha256: str, sha512: str) -> None:
    """Say that the bytes of an artifact, whose release the caller has locked, are here.

    Args:
        artifact_id: objectId.
        sha256, sha512: of the bytes, lower-case hexadecimal.
    """
    await conn.execute(
        "UPDATE artifacts SET hosted = true, sha256 = $2, sha512 = $3 WHERE id = $1",
        artifact_id,
        sha256,
        sha512,
    )


async def needed(conn: Connection, sha256s: Collection[str]) -> set[str]:
    """Those of the hashes whose bytes an artifact has here."""
    rows = await conn.fetch(
        "SELECT DISTINCT sha256 FROM artifacts WHERE hosted AND sha256 = ANY ($1::text[])", list(sha256s)
    )
    return {row["sha256"] for row in rows}
