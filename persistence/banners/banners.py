"""Banners that users have designed. Rows only."""

import msgspec

from persistence.connection import Connection, Row
from persistence.pages import BEFORE_ANY


class Layer(msgspec.Struct, frozen=True):
    """One pattern on a banner.

    Args:
        pattern: the pattern's id in Minecraft, without namespace.
        color: the name of a dye.
    """

    pattern: str
    color: str


class Design(msgspec.Struct, frozen=True):
    """How a banner looks.

    Args:
        base_color: the name of a dye.
        layers: what is drawn on it, the lowest first.
    """

    base_color: str
    layers: tuple[Layer, ...]


class Banner(msgspec.Struct, frozen=True):
    """A banner that a user has designed.

    Args:
        id: objectId.
        owner_id: the user who designed it.
        name: the banner's name, as its owner gave it.
        created_at_ms: epoch milliseconds.
    """

    id: str
    owner_id: str
    name: str
    design: Design
    created_at_ms: int


async def add(conn: Connection, banner: Banner, picture: bytes) -> None:
    """Store a banner with its picture.

    Args:
        picture: the banner as a PNG file of at most 16 KiB.
    """
    await conn.execute(
        "INSERT INTO banners (id, owner_id, name, base_color, patterns, picture, created_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7)",
        banner.id,
        banner.owner_id,
        banner.name,
        banner.design.base_color,
        encode_layers(banner.design.layers),
        picture,
        banner.created_at_ms,
    )


async def count_owned(conn: Connection, owner_id: str) -> int:
    """How many banners a user has."""
    count: int = await conn.fetchval("SELECT count(*) FROM banners WHERE owner_id = $1", owner_id)
    return count


async def list_owned(
    conn: Connection, owner_id: str, before: tuple[int, str] | None, limit: int
) -> list[Banner]:
    """The banners of a user, newest first.

    Args:
        before: (created_at_ms, id) of the last banner of the page before; None for the first page.
        limit: at most so many.
    """
    rows = await conn.fetch(
        "SELECT id, owner_id, name, base_color, patterns, created_at_ms FROM banners"
        " WHERE owner_id = $1 AND (created_at_ms, id) < ($2, $3)"
        " ORDER BY created_at_ms DESC, id DESC LIMIT $4",
        owner_id,
        *(before or BEFORE_ANY),
        limit,
    )
    return [_banner(row) for row in rows]


async def read_banner(conn: Connection, id: str) -> Banner | None:
    """One banner, or None."""
    row = await conn.fetchrow(
        "SELECT id, owner_id, name, base_color, patterns, created_at_ms FROM banners WHERE id = $1", id
    )
    return None if row is None else _banner(row)


async def read_picture(conn: Connection, id: str) -> bytes | None:
    """The picture of a banner (PNG), or None when there is no such banner."""
    picture: bytes | None = await conn.fetchval("SELECT picture FROM banners WHERE id = $1", id)
    return picture


async def remove(conn: Connection, owner_id: str, id: str) -> bool:
    """Delete a banner of a user; returns whether it was there."""
    tag = await conn.execute("DELETE FROM banners WHERE id = $1 AND owner_id = $2", id, owner_id)
    return tag == "DELETE 1"


def encode_layers(layers: tuple[Layer, ...]) -> str:
    """Layers as the JSON text that rows hold."""
    return msgspec.json.encode(layers).decode("utf-8")


def decode_layers(text: str) -> tuple[Layer, ...]:
    """The layers in the JSON text of a row."""
    return msgspec.json.decode(text, type=tuple[Layer, ...])


def _banner(row: Row) -> Banner:
    design = Design(row["base_color"], decode_layers(row["patterns"]))
    return Banner(row["id"], row["owner_id"], row["name"], design, row["created_at_ms"])
