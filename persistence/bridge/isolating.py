"""Finds the turns at fault in a refused batch and leaves them out, in one transaction that keeps all the others.

Turns are written under savepoints, to which a refused one is rolled back alone. Because nearly always one turn of many
is at fault, they are first written in groups of about the square root of their number: of a thousand turns, one of them
at fault, some sixty savepoints are made instead of a thousand. A refused group is then written turn by turn, so that no
turn is written more than twice here, however many are at fault.

Each group adds its notifications by itself, so here, and only here, the heads of notified users are locked in no one
order. If that meets another transaction in a deadlock, the turns are answered that they may be tried again.
"""

from collections.abc import Sequence
from math import isqrt

import asyncpg

from persistence.bridge.faults import is_busy, is_collision, is_lost, rejected
from persistence.errors import DatabaseUnavailable, LimitReached, PersistenceError, RowsRejected
from persistence.journal import commit
from persistence.journal.turn import Turn


async def write_apart(conn: asyncpg.Connection, turns: Sequence[Turn]) -> list[PersistenceError | None]:
    """Write the turns inside the caller's transaction, and leave out those that are refused.

    Args:
        conn: inside a READ COMMITTED transaction, to be committed when this returns and rolled back when it raises.
        turns: at least one, of different actors.

    Returns: for each turn None when it is written, otherwise the error for which it was left out.

    Raises: asyncpg's errors that are no turn's fault: the connection is lost, or PostgreSQL cannot serve now.

    Cancellation: the transaction is left open, so the caller has to close the connection.
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
    """Write turns under a savepoint: the outcome of each, or the error for which all of them were rolled back."""
    await conn.execute("SAVEPOINT turns")
    try:
        outcomes = await commit.write(conn, turns)
        await conn.execute("RELEASE SAVEPOINT turns")
    except Exception as error:
        # Kinds' `persist` runs in here: any exception of theirs must fail their own turns only.
        if is_lost(error, conn) or is_busy(error):
            raise
        await conn.execute("ROLLBACK TO SAVEPOINT turns")
        return error
    return outcomes


def rejection(turn: Turn, cause: BaseException | None) -> PersistenceError:
    """The error for the actor of a turn that was rolled back alone; `DatabaseUnavailable` if it may simply be repeated.

    Args:
        turn: the one that was rolled back.
        cause: what PostgreSQL, or the kind's `persist`, raised.
    """
    if cause is not None and is_collision(cause):
        collided = DatabaseUnavailable("two transactions stood in each other's way")
        collided.__cause__ = cause
        return collided
    if isinstance(cause, LimitReached):
        failure: RowsRejected = LimitReached(str(cause), cause.most)
    else:
        failure = rejected(f"a turn of {turn.kind} {turn.id} was rejected", cause)
    failure.cause = failure.__cause__ = cause
    return failure
