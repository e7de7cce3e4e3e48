"""Totems: models that users have uploaded, and which of them each user has equipped. Rows only.

`selected_count` and the gallery's total are kept by triggers (0011_totems.sql). A transaction that changes a
selection locks the models first, in the order of their ids.
"""

from collections.abc import Collection
from typing import Literal

import msgspec

from persistence.connection import Connection, Row
from persistence.shop.entitlements import TOTEM

Format = Literal["minecraft-item-model", "blockbench"]
"""The format of a model (contract §8)."""

Sort = Literal["selected", "created", "last_used", "name"]
"""The sort keys of the gallery (service-api §4)."""

Order = Literal["asc", "desc"]
"""The direction of sorting."""


class Model(msgspec.Struct, frozen=True):
    """A totem's model, without its content. Times are epoch milliseconds.

    Args:
        id: objectId.
        owner_id: the user who has uploaded it.
        owner_name: the owner's present name.
        file_name: the name of the uploaded file, cleaned; "" for none.
        rating_age: the age from which it is suitable: 0, 16, 18 or 21.
        author_name: the name of its author; None where that is the owner.
        last_used_at_ms: when a user last equipped it.
        selected_count: how many users have it equipped.
    """

    id: str
    owner_id: str
    owner_name: str
    file_name: str
    format: Format
    rating_content: str
    rating_age: int
    author_name: str | None
    author_description: str | None
    created_at_ms: int
    last_used_at_ms: int
    selected_count: int


MODELS = """
SELECT m.id, m.owner_id, u.name AS owner_name, m.file_name, m.format, m.rating_content, m.rating_age,
       m.author_name, m.author_description, m.created_at_ms, m.last_used_at_ms, m.selected_count
FROM totem_models AS m JOIN users AS u ON u.id = m.owner_id
"""


def _model(row: Row) -> Model:
    return Model(*(row[name] for name in Model.__struct_fields__))


async def selected_by(conn: Connection, user_id: str) -> Model | None:
    """The model that the user has equipped, or None."""
    row = await conn.fetchrow(
        f"{MODELS} JOIN totem_selections AS s ON s.model_id = m.id WHERE s.user_id = $1", user_id
    )
    return None if row is None else _model(row)


async def visible(conn: Connection, model_id: str, viewer_id: str | None, *, gallery: bool) -> Model | None:
    """A model, if the viewer may see it: it is their own, a user has equipped it, or the gallery is open; else None.

    Args:
        viewer_id: None for a viewer without a token.
        gallery: whether the gallery is open.
    """
    row = await conn.fetchrow(
        f"{MODELS} WHERE m.id = $1 AND ($3 OR m.selected_count > 0 OR m.owner_id = $2)",
        model_id,
        viewer_id,
        gallery,
    )
    return None if row is None else _model(row)


async def content_of(conn: Connection, model_id: str) -> bytes | None:
    """A model's JSON, or None when there is no such model."""
    content = await conn.fetchval("SELECT content FROM totem_contents WHERE model_id = $1", model_id)
    return None if content is None else bytes(content)


async def uploaded_by(conn: Connection, owner_id: str, *, limit: int, offset: int) -> tuple[list[Model], int]:
    """A page of a user's own models, newest first, and their total.

    Args:
        limit, offset: models on the page at most, and models before it.
    """
    rows = await conn.fetch(
        f"{MODELS} WHERE m.owner_id = $1 ORDER BY m.created_at_ms DESC, m.id DESC LIMIT $2 OFFSET $3",
        owner_id,
        limit,
        offset,
    )
    total = await conn.fetchval("SELECT count(*) FROM totem_models WHERE owner_id = $1", owner_id)
    return [_model(row) for row in rows], total


_SORTED_BY = {
    "selected": "selected_count",
    "created": "created_at_ms",
    "last_used": "last_used_at_ms",
    "name": "name_key",
}

# The page's ids come from an index-only scan, so that a far page reads no rows but its own.
_PAGE = f"""{MODELS}
JOIN (SELECT id, sort_key FROM totem_models ORDER BY sort_key asc, id asc LIMIT $1 OFFSET $2) AS page
    ON page.id = m.id ORDER BY page.sort_key asc, page.id asc
"""  # noqa: S608 - constants only
_PAGES = {
    (sort, order): _PAGE.replace("sort_key", column).replace(" asc", f" {order}")
    for sort, column in _SORTED_BY.items()
    for order in ("asc", "desc")
}


async def gallery(
    conn: Connection, sort: Sort, order: Order, *, limit: int, offset: int
) -> tuple[list[Model], int]:
    """A page of all models, and their total.

    Args:
        limit, offset: models on the page at most, and models before it.
    """
    rows = await conn.fetch(_PAGES[sort, order], limit, offset)
    total = await conn.fetchval("SELECT total FROM totem_gallery")
    return [_model(row) for row in rows], total


async def lock(conn: Connection, model_ids: Collection[str | None]) -> set[str]:
    """Lock models until the transaction ends; returns the ids of those that exist."""
    rows = await conn.fetch(
        "SELECT id FROM totem_models WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE",
        [model_id for model_id in model_ids if model_id is not None],
    )
    return {row["id"] for row in rows}


async def selected_id(conn: Connection, user_id: str) -> str | None:
    """The id of the model that the user has equipped, or None."""
    found: str | None = await conn.fetchval(
        "SELECT model_id FROM totem_selections WHERE user_id = $1", user_id
    )
    return found


async def add(conn: Connection, model: Model, content: bytes) -> None:
    """Store a model; its `owner_name` and `selected_count` are ignored.

    Args:
        content: the model's JSON text.
    """
    await conn.execute(
        "INSERT INTO totem_models (id, owner_id, file_name, name_key, format, rating_content, rating_age,"
        " author_name, author_description, created_at_ms, last_used_at_ms)"
        " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
        model.id,
        model.owner_id,
        model.file_name,
        model.file_name.lower(),
        model.format,
        model.rating_content,
        model.rating_age,
        model.author_name,
        model.author_description,
        model.created_at_ms,
        model.last_used_at_ms,
    )
    await conn.execute("INSERT INTO totem_contents (model_id, content) VALUES ($1, $2)", model.id, content)


async def select(conn: Connection, user_id: str, model_id: str, now_ms: int) -> None:
    """Equip the user with a model, in place of any other; both must be locked (`lock`)."""
    await conn.execute(
        "INSERT INTO totem_selections (user_id, model_id, selected_at_ms) VALUES ($1, $2, $3)"
        " ON CONFLICT (user_id) DO UPDATE SET model_id = $2, selected_at_ms = $3",
        user_id,
        model_id,
        now_ms,
    )
    await conn.execute(
        "UPDATE totem_models SET last_used_at_ms = greatest(last_used_at_ms, $2) WHERE id = $1",
        model_id,
        now_ms,
    )


async def unequip(conn: Connection, user_id: str, model_ids: Collection[str]) -> None:
    """Store that a user has no totem equipped, if they have equipped one of these and have not uploaded it."""
    if await selected_id(conn, user_id) not in model_ids:
        return
    await lock(conn, model_ids)
    await conn.execute(
        "DELETE FROM totem_selections USING totem_models WHERE user_id = $1 AND model_id = ANY ($2::text[])"
        " AND totem_models.id = model_id AND totem_models.owner_id <> $1",
        user_id,
        list(model_ids),
    )


async def drop_oldest(conn: Connection, owner_id: str, *, keep: int) -> None:
    """Delete a user's models but the newest `keep`; those that a user has equipped, that a product of the shop unlocks
    or that somebody has bought stay, and do not count.

    Locked models, which a user is just equipping, are skipped: waiting for them could deadlock.
    """
    await conn.execute(_DROP_OLDEST, owner_id, keep, TOTEM)


# Any product, on sale or not: a bundle may include it, and a checkout that is still open may be paid.
_DROP_OLDEST = """
DELETE FROM totem_models WHERE id IN (
    SELECT id FROM totem_models WHERE selected_count = 0 AND id IN (
        SELECT id FROM totem_models AS model WHERE owner_id = $1 AND selected_count = 0
        AND NOT EXISTS (SELECT FROM shop_products WHERE kind = 'totem' AND target_id = model.id)
        AND NOT EXISTS (SELECT FROM shop_entitlements WHERE NOT ended AND node = $3 || model.id)
        ORDER BY created_at_ms DESC, id DESC OFFSET $2
    ) FOR UPDATE SKIP LOCKED
)
"""
