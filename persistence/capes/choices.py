"""Users' choices: the cape they wear, and the terms they accepted."""

from collections.abc import Collection
from typing import Literal, TypeAlias

import msgspec

from persistence.capes.rows import Cape, cape_of
from persistence.connection import Connection

CapeSource: TypeAlias = Literal["native", "external"]
"""`native`: the service has the cape; `external`: the launcher has it (service-api §2)."""


class Selection(msgspec.Struct, frozen=True):
    """The cape that a user wears.

    Args:
        cape_id: the id of a stored cape where the source is `native`, else any uuid.
        updated_at_ms: when they chose it.
    """

    source: CapeSource
    cape_id: str
    updated_at_ms: int


class Acceptance(msgspec.Struct, frozen=True):
    """The newest terms that a user accepted, and when."""

    revision: int
    accepted_at_ms: int


async def read_selection(conn: Connection, user_id: str) -> Selection | None:
    """The cape that the user has selected, or None."""
    row = await conn.fetchrow(
        "SELECT CASE WHEN native_id IS NULL THEN 'external' ELSE 'native' END AS source,"
        " coalesce(native_id, external_id) AS cape_id, updated_at_ms FROM cape_selections WHERE user_id = $1",
        user_id,
    )
    return None if row is None else Selection(*(row[name] for name in Selection.__struct_fields__))


async def read_worn(conn: Connection, user_id: str) -> tuple[Cape, int] | None:
    """The cape that others see a user wear and when they chose it; None unless it is native and approved."""
    row = await conn.fetchrow(
        "SELECT capes.*, cape_selections.updated_at_ms AS chosen_at_ms FROM cape_selections"
        " JOIN capes ON capes.id = native_id WHERE user_id = $1 AND status = 'approved'",
        user_id,
    )
    return None if row is None else (cape_of(row), row["chosen_at_ms"])


async def save_selection(conn: Connection, user_id: str, selection: Selection) -> None:
    """Store the cape that a user wears, in place of a former one."""
    native = selection.source == "native"
    await conn.execute(
        "INSERT INTO cape_selections (user_id, native_id, external_id, updated_at_ms) VALUES ($1, $2, $3, $4)"
        " ON CONFLICT (user_id) DO UPDATE SET native_id = excluded.native_id,"
        " external_id = excluded.external_id, updated_at_ms = excluded.updated_at_ms",
        user_id,
        selection.cape_id if native else None,
        None if native else selection.cape_id,
        selection.updated_at_ms,
    )


async def remove_selection(conn: Connection, user_id: str) -> None:
    """Store that a user wears no cape."""
    await conn.execute("DELETE FROM cape_selections WHERE user_id = $1", user_id)


async def take_off(conn: Connection, user_id: str, cape_ids: Collection[str]) -> None:
    """Store that a user wears no cape, if they wear one of these capes and have not uploaded it themselves."""
    await conn.execute(
        "DELETE FROM cape_selections USING capes WHERE user_id = $1 AND native_id = ANY ($2::text[])"
        " AND capes.id = native_id AND capes.owner_id <> $1",
        user_id,
        list(cape_ids),
    )


async def read_acceptance(conn: Connection, user_id: str) -> Acceptance | None:
    """The newest terms that a user accepted, or None."""
    row = await conn.fetchrow(
        "SELECT revision, accepted_at_ms FROM cape_terms WHERE user_id = $1 ORDER BY revision DESC LIMIT 1",
        user_id,
    )
    return None if row is None else Acceptance(*row)


async def save_acceptance(conn: Connection, user_id: str, revision: int, now_ms: int) -> None:
    """Store that a user accepts this revision of the terms; the time of the first acceptance is kept."""
    await conn.execute(
        "INSERT INTO cape_terms (user_id, revision, accepted_at_ms) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        user_id,
        revision,
        now_ms,
    )
