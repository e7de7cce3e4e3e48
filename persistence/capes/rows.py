"""Single capes in rows, locked where they are to change. The catalog's lists are in `catalog.py`.

Texture and preview are bytea in a table beside, not files: together they have a few KiB (a 64x64 texture is 16 KiB at
most), are committed, deleted and backed up with their cape, and need no sweep.
"""

from typing import Literal, TypeAlias

import msgspec

from persistence.connection import Connection, Row

CapeStatus: TypeAlias = Literal["draft", "pending", "approved", "private", "blocked"]
"""The state of a cape (service-api §3)."""

BETWEEN = "\x1f"
"""Separates the parts of the searched text; occurs in none of them."""


class Cape(msgspec.Struct, frozen=True):
    """One cape. Times are epoch milliseconds.

    Args:
        id: uuid.
        owner_id: the user who uploaded it.
        creator: the owner's name.
        texture_sha256: the texture's SHA-256, which serves as its version.
        downloads: how often the texture was fetched while approved.
        approved_at_ms: None unless it is approved.
        reason: why the moderator decided so, or None.
        moderator_id: the user who last moderated it, at `moderated_at_ms`; both are None before.
    """

    id: str
    owner_id: str
    creator: str
    name: str
    description: str
    status: CapeStatus
    texture_sha256: bytes
    downloads: int
    created_at_ms: int
    updated_at_ms: int
    approved_at_ms: int | None
    reason: str | None
    moderator_id: str | None
    moderated_at_ms: int | None


class Pictures(msgspec.Struct, frozen=True):
    """The two pictures of a cape, both PNG files.

    Args:
        texture: the texture that the game loads.
        preview: a picture of the cape's front.
        sha256: the texture's SHA-256.
    """

    texture: bytes
    preview: bytes
    sha256: bytes


class Picture(msgspec.Struct, frozen=True):
    """One picture of a cape, with the cape's owner and state.

    Args:
        png: the picture's file.
        sha256: the SHA-256 of the cape's texture, whichever picture this is.
    """

    png: bytes
    sha256: bytes
    owner_id: str
    status: CapeStatus


PictureKind: TypeAlias = Literal["texture", "preview"]


async def add_cape(conn: Connection, cape: Cape, pictures: Pictures) -> None:
    """Store a new cape with its pictures."""
    await conn.execute(
        "INSERT INTO capes (id, owner_id, creator, name, description, status, texture_sha256, created_at_ms,"
        " updated_at_ms, words, creator_lower) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        cape.id,
        cape.owner_id,
        cape.creator,
        cape.name,
        cape.description,
        cape.status,
        cape.texture_sha256,
        cape.created_at_ms,
        cape.updated_at_ms,
        words_of(cape.name, cape.description),
        cape.creator.lower(),
    )
    await conn.execute(
        "INSERT INTO cape_pictures (cape_id, texture, preview) VALUES ($1, $2, $3)",
        cape.id,
        pictures.texture,
        pictures.preview,
    )


async def read_cape(conn: Connection, id: str) -> Cape | None:
    """One cape, or None."""
    row = await conn.fetchrow("SELECT * FROM capes WHERE id = $1", id)
    return None if row is None else cape_of(row)


async def lock_cape(conn: Connection, id: str) -> Cape | None:
    """One cape, or None; its row is locked for changes until the transaction ends."""
    row = await conn.fetchrow("SELECT * FROM capes WHERE id = $1 FOR UPDATE", id)
    return None if row is None else cape_of(row)


async def hold_cape(conn: Connection, id: str) -> Cape | None:
    """One cape, or None; until the transaction ends it can be changed, but not deleted."""
    row = await conn.fetchrow("SELECT * FROM capes WHERE id = $1 FOR KEY SHARE", id)
    return None if row is None else cape_of(row)


async def save_cape(conn: Connection, cape: Cape) -> None:
    """Write the changeable columns of a locked cape; the download counter is left alone."""
    await conn.execute(
        "UPDATE capes SET name = $2, description = $3, status = $4, texture_sha256 = $5, updated_at_ms = $6,"
        " approved_at_ms = $7, reason = $8, moderator_id = $9, moderated_at_ms = $10, words = $11 WHERE id = $1",
        cape.id,
        cape.name,
        cape.description,
        cape.status,
        cape.texture_sha256,
        cape.updated_at_ms,
        cape.approved_at_ms,
        cape.reason,
        cape.moderator_id,
        cape.moderated_at_ms,
        words_of(cape.name, cape.description),
    )


async def save_pictures(conn: Connection, id: str, pictures: Pictures) -> None:
    """Replace the pictures of a locked cape."""
    await conn.execute(
        "UPDATE cape_pictures SET texture = $2, preview = $3 WHERE cape_id = $1",
        id,
        pictures.texture,
        pictures.preview,
    )


async def remove_cape(conn: Connection, id: str) -> None:
    """Delete a cape, its pictures and all users' selections of it."""
    await conn.execute("DELETE FROM capes WHERE id = $1", id)


async def read_picture(conn: Connection, id: str, kind: PictureKind) -> Picture | None:
    """One of a cape's pictures, or None when there is no such cape."""
    row = await conn.fetchrow(
        "SELECT CASE $2::text WHEN 'texture' THEN texture ELSE preview END AS png, texture_sha256 AS sha256,"
        " owner_id, status FROM capes JOIN cape_pictures ON cape_id = id WHERE id = $1",
        id,
        kind,
    )
    return None if row is None else Picture(*(row[name] for name in Picture.__struct_fields__))


async def count_downloads(conn: Connection, ids: list[str], numbers: list[int]) -> None:
    """Add to the download counters of capes; deleted ones are skipped. Rows are locked in the order of their ids, so
    that concurrent calls do not deadlock.

    Args:
        numbers: downloads to add, one for each of `ids`.
    """
    await conn.execute(
        "WITH added AS (SELECT id, number FROM unnest($1::text[], $2::bigint[]) AS given (id, number)),"
        " locked AS (SELECT id FROM capes WHERE id = ANY ($1::text[]) ORDER BY id FOR UPDATE)"
        " UPDATE capes SET downloads = downloads + added.number FROM added JOIN locked USING (id)"
        " WHERE capes.id = added.id",
        ids,
        numbers,
    )


def words_of(name: str, description: str) -> str:
    """The text that a search looks through, beside the creator: name and description, in lower case."""
    return f"{name}{BETWEEN}{description}".lower()


def cape_of(row: Row) -> Cape:
    """The cape in a row that has all its columns."""
    return Cape(*(row[name] for name in Cape.__struct_fields__))
