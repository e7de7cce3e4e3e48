"""How two users stand according to the rows, read after a change of it, while the rows of both are still locked."""

from typing import TypeVar, TypeVarTuple

from actors.change import Change
from actors.friends.announcing import numbered
from actors.friends.events import Between, RelationChanged
from actors.ids import UserId
from persistence.connection import Connection, Unit
from persistence.friends import standing, visibilities
from persistence.users.users import lock_user

R = TypeVar("R")
Args = TypeVarTuple("Args")


async def moved(
    conn: Connection,
    unit: Unit[*Args, Change[R]],
    *args: *Args,
    one_id: UserId,
    other_id: UserId,
) -> Change[R]:
    """Run a move that may begin or end a relation of two users; the last of its events says how they stand afterwards.

    Args:
        unit, args: a move of `units_relations.py`, and its arguments.
        one_id, other_id: the two users.

    Raises: whatever the move raises.
    """
    change = await unit(conn, *args)
    seen = await seen_between(conn, one_id, other_id)
    return Change(change.value, (*change.events, seen))


async def seen_between(conn: Connection, one_id: UserId, other_id: UserId) -> RelationChanged:
    """An event that says how two users stand now: brings memory up to date, also after an outcome that is unknown.

    The event is numbered and announced while the rows of both are locked.
    """
    found = await look(conn, one_id, other_id)
    return await numbered(conn, RelationChanged(one_id, other_id, found))


async def look(conn: Connection, one_id: UserId, other_id: UserId) -> Between:
    """Read how two users stand, after locking the rows of both, so that no change of it is under way."""
    for id in sorted((one_id, other_id)):
        await lock_user(conn, id)
    chosen = await visibilities.between(conn, one_id, other_id)
    marks = await standing.between(conn, one_id, other_id)
    blockers = [id for id, blocks in ((one_id, marks.blocks), (other_id, marks.blocked)) if blocks]
    return Between(marks.linked, chosen, frozenset(blockers))
