"""Translates asyncpg's exceptions for the layers above: is the database unavailable, or did it refuse the rows?

This is the only table of SQLSTATEs. Only the other `bridge` modules import it, so that no exception of asyncpg's needs
to be known above them.
"""

from typing import NoReturn

import asyncpg

from persistence.errors import DatabaseUnavailable, PersistenceError, ReferenceGone, RowsRejected

CONNECT_FAULTS = (
    OSError,
    TimeoutError,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
)
"""What a failed attempt to connect can raise: network, deadline, refusal by the server, broken handshake."""

_STANDBY_CODE = "25006"
# SQLSTATE classes (the first two characters) under which the connection is of no further use.
_LOST_CLASSES = frozenset({"08"})
# Codes that say the same: shutdown, crash, starting up, database dropped, session or transaction ended for
# idling, and a server that became a standby under us (asking again has to find the new primary).
_LOST_CODES = frozenset({"57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "25P04", _STANDBY_CODE})
# The server is there and cannot serve now: disk full, out of memory, too many connections, system and I/O
# errors; a statement cancelled by its timeout; a lock not granted. The connection stays good and nothing was
# changed.
_BUSY_CLASSES = frozenset({"53", "58"})
_BUSY_CODES = frozenset({"57014", "55P03"})
# Two transactions collided: repeating one of them will work.
_COLLISION_CODES = frozenset({"40001", "40P01"})


def is_lost(error: BaseException, conn: asyncpg.Connection) -> bool:
    """True when the connection is closed, or in a state in which it must not be used again.

    Args:
        error: what a call on the connection raised.
        conn: that connection.
    """
    if conn.is_closed() or isinstance(error, (OSError, TimeoutError, asyncpg.InternalClientError)):
        return True
    code = _sqlstate(error)
    return code in _LOST_CODES or code[:2] in _LOST_CLASSES


def is_standby(error: BaseException) -> bool:
    """True when the server may only read, so that a statement which was to write has changed nothing."""
    return _sqlstate(error) == _STANDBY_CODE


def is_busy(error: BaseException) -> bool:
    """True when the server answered, but cannot do the work now (disk full, statement timeout, …)."""
    code = _sqlstate(error)
    return code in _BUSY_CODES or code[:2] in _BUSY_CLASSES


def unavailable(error: BaseException) -> DatabaseUnavailable:
    """The error for the layers above when the server cannot do the work now; its message names the original error.

    Args:
        error: an error for which `is_busy` or `is_collision` is true.
    """
    return DatabaseUnavailable(f"the database cannot serve now ({type(error).__name__})")


def is_collision(error: BaseException) -> bool:
    """True for deadlocks, serialization failures, and a table that was altered under a prepared statement.

    The transaction is undone and may simply be repeated.
    """
    return isinstance(error, asyncpg.InvalidCachedStatementError) or _sqlstate(error) in _COLLISION_CODES


def is_refusal(error: BaseException) -> bool:
    """True when PostgreSQL, or asyncpg on its behalf, refused these very values; repeating would not help."""
    # asyncpg's own DataError (a Python value that does not fit its parameter) is the one InterfaceError that is a
    # ValueError too. The others say that we used the connection wrongly, and pass unchanged, so that the mistake shows.
    refused_values = isinstance(error, asyncpg.InterfaceError) and isinstance(error, ValueError)
    return refused_values or isinstance(error, asyncpg.PostgresError)


def rejected(message: str, cause: BaseException | None) -> RowsRejected:
    """The error for rows that PostgreSQL, or a kind's `persist`, refused.

    Args:
        message: the text of the new error.
        cause: the exception that PostgreSQL or `persist` raised.
    """
    is_gone = isinstance(cause, asyncpg.ForeignKeyViolationError)
    return ReferenceGone(message) if is_gone else RowsRejected(message)


def describe(error: BaseException | None) -> dict[str, object]:
    """Fields for the log that describe an error; never the text of PostgreSQL's, which quotes the refused row."""
    if isinstance(error, asyncpg.PostgresError):
        return {"sqlstate": error.sqlstate, "constraint": getattr(error, "constraint_name", None)}
    return {"exc_info": error}


def raise_translated(error: Exception) -> NoReturn:
    """Raise an error of asyncpg's as one of `persistence.errors`, with the original as its cause; others unchanged.

    Args:
        error: what came out of a unit of work whose connection is still good, and whose changes were undone.

    Raises:
        DatabaseUnavailable: the server cannot do the work now, or the unit collided with another transaction.
        RowsRejected: PostgreSQL refused the rows; `ReferenceGone` where what they refer to is not there.
    """
    try:
        if isinstance(error, PersistenceError):
            raise error
        if is_busy(error) or is_collision(error):
            raise unavailable(error) from error
        if is_refusal(error):
            raise rejected(f"PostgreSQL refused the rows ({type(error).__name__})", error) from error
        raise error
    finally:
        # Its traceback knows this frame: else the two would keep each other in memory.
        del error


def _sqlstate(error: BaseException) -> str:
    return (error.sqlstate or "") if isinstance(error, asyncpg.PostgresError) else ""
