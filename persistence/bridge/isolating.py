"""Turns of a refused batch, in one transaction: whose fault it was, without the others paying for it many times over.

Each turn is written under a savepoint and alone is rolled back, so that one COMMIT keeps all the others. Because nearly
always one turn of many is at fault, they are first taken in groups of about the square root of their number: of a
thousand turns, one of them at fault, some sixty groups are written instead of a thousand. A refused group is taken
apart turn by turn, so that no turn is written more than twice here, however many are at fault.
"""

from collections.abc import Sequence
from math import isqrt

import asyncpg
import structlog

from persistence.bridge.faults import describe, is_busy, is_collision, is_lost
from persistence.errors import DatabaseUnavailable, PersistenceError, RowsRejected
from persistence.journal import commit
from persistence.journal.turn import Turn

_log = structlog.get_logger(__name__)


async def write_apart(conn: asyncpg.Connection, turns: Sequence[Turn]) -> list[PersistenceError | None]:
    """Write the turns inside the caller's transaction, and leave out those that are refused.

    Args:
        conn: inside a READ COMMITTED transaction, to be committed when this returns and rolled back when it raises.
        turns: at least one, of different actors.

    Returns: for each turn None, or why it alone was left out.

    Raises: what says nothing against a turn: the connection is lost, or PostgreSQL cannot serve now.
    """
    outcomes: list[PersistenceError | None] = []
    size = isqrt(len(turns))
    for start in range(0, len(turns), size):
        group = turns[start : start + size]
        written = await _attempt(conn, group)
        if isinstance(written, list):
            outcomes += written
        elif len(group) == 1:
            outcomes.append(rejection(group[0], written))
        else:
            outcomes += [await _alone(conn, turn) for turn in group]
    return outcomes


async def _alone(conn: asyncpg.Connection, turn: Turn) -> PersistenceError | None:
    written = await _attempt(conn, [turn])
    return written[0] if isinstance(written, list) else rejection(turn, written)


async def _attempt(
    conn: asyncpg.Connection, turns: Sequence[Turn]
) -> list[PersistenceError | None] | Exception:
    """What became of the turns; or why all of them were undone, also when a `persist` went on after an error."""
    await conn.execute("SAVEPOINT turns")
    try:
        outcomes = await commit.write(conn, turns)
        await conn.execute("RELEASE SAVEPOINT turns")
    except Exception as error:
        # All of a kind's `persist` runs in here: a mistake in one of them is its own turns' alone.
        if is_lost(error, conn) or is_busy(error):
            raise
        await conn.execute("ROLLBACK TO SAVEPOINT turns")
        return error
    return outcomes


def rejection(turn: Turn, cause: BaseException | None) -> PersistenceError:
    """What the actor of a turn is told that was undone by itself."""
    failure: PersistenceError
    if cause is not None and is_collision(cause):
        failure = DatabaseUnavailable("two transactions stood in each other's way")
    else:
        _log.warning("a turn was rejected", kind=turn.kind, id=turn.id, **describe(cause))
        failure = RowsRejected(f"a turn of {turn.kind} {turn.id} was rejected")
    failure.__cause__ = cause
    return failure
