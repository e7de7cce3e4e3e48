"""The writer's connection: commits turns in one transaction, with one prepared statement where that is possible.

Invariant: after `commit` has returned, or has raised `Undone`, no transaction is open; after `Broken`, or when it was
cancelled, the connection must not be used again.
"""

import asyncio
from collections.abc import Sequence
from enum import Enum

import asyncpg
from asyncpg.prepared_stmt import PreparedStatement

from persistence.bridge.faults import is_busy, is_lost, is_standby
from persistence.bridge.isolating import write_apart
from persistence.errors import PersistenceError, RowsRejected
from persistence.journal import commit
from persistence.journal.turn import Statement, Turn

MIN_COMMIT_SECONDS = 1.0
"""Shortest deadline of a transaction, also when its oldest turn has waited for nearly the whole of its own."""


MOST_PREPARED = 64
"""Most statements that stay prepared. Turns of several kinds are written together in hundreds of combinations, each a
text of its own, and PostgreSQL keeps a plan for each for as long as the connection lives, which may be months."""


class How(Enum):
    """How turns are committed. Those that are refused are tried again in the next of these ways."""

    WHOLE = "the batch, at once where that is possible"
    APART = "in one transaction, without those that are refused"
    ALONE = "one turn in a transaction of its own"


class Broken(Exception):
    """The connection was lost, or gave no answer in time.

    Args:
        commit_was_sent: COMMIT was sent, and not answered.
        may_have_landed: the one statement that writes and commits was sent, and not answered.
    """

    def __init__(self, *, commit_was_sent: bool, may_have_landed: bool) -> None:
        self.commit_was_sent = commit_was_sent
        self.may_have_landed = may_have_landed


class Undone(Exception):
    """The transaction was rolled back.

    Args:
        cause: why; kept beside `__cause__`, which compiled code does not set.
    """

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


class WriterConnection:
    """A connection and the statements that were prepared on it.

    Args:
        conn: the connection, which nothing else uses.
    """

    def __init__(self, conn: asyncpg.Connection) -> None:
        self.conn = conn
        self._prepared: dict[str, PreparedStatement] = {}  # by their text, the one used longest ago first

    async def commit(
        self, turns: Sequence[Turn], how: How, left_seconds: float
    ) -> list[PersistenceError | None]:
        """Commit turns together; returns the answer to each.

        Cancellation leaves the transaction open, so the caller has to close the connection.

        Args:
            turns: at least one, of different actors.
            left_seconds: time until the oldest turn has to be answered; at least `MIN_COMMIT_SECONDS` are allowed.

        Raises:
            Broken: the connection was lost or silent, and must not be used again.
            Undone: PostgreSQL refused the transaction, and it was rolled back.
        """
        conn = self.conn
        commit_was_sent = may_have_landed = False
        try:
            async with asyncio.timeout(max(MIN_COMMIT_SECONDS, left_seconds)):
                if how is How.WHOLE:
                    statement = commit.at_once(turns)
                    prepared = None if statement is None else await self._prepare(statement.sql)
                    if statement is not None and prepared is not None:
                        may_have_landed = True
                        if await self._succeeds(prepared, statement):
                            return [None] * len(turns)
                        may_have_landed = False
                await conn.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")
                write = write_apart if how is How.APART else commit.write
                outcomes = await write(conn, turns)
                commit_was_sent = True
                tag = await conn.execute("COMMIT")
        except Exception as error:
            # Kinds' `persist` runs in here: no exception of theirs may end the writer.
            if is_lost(error, conn) or not await self._roll_back():
                may_have_landed = may_have_landed and not is_standby(error)
                raise Broken(commit_was_sent=commit_was_sent, may_have_landed=may_have_landed) from error
            raise Undone(error) from error
        if tag != "COMMIT":
            raise Undone(RowsRejected("persist went on after an error, so PostgreSQL rolled the batch back"))
        return outcomes

    async def _prepare(self, sql: str) -> PreparedStatement:
        prepared = self._prepared.pop(sql, None)
        if prepared is None:
            prepared = await self.conn.prepare(sql)
            if len(self._prepared) >= MOST_PREPARED:
                # Nothing refers to it any more, so asyncpg has PostgreSQL forget it with the next statement.
                del self._prepared[next(iter(self._prepared))]
        self._prepared[sql] = prepared
        return prepared

    async def _succeeds(self, prepared: PreparedStatement, statement: Statement) -> bool:
        """Run the one statement; False when PostgreSQL refused it, and writing in steps has to find out why."""
        try:
            await prepared.fetch(*statement.parameters)
        except (asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            if is_lost(error, self.conn) or is_busy(error):
                raise
            # Also when a table was altered since it was prepared.
            self._prepared.pop(statement.sql, None)
            return False
        return True

    async def _roll_back(self) -> bool:
        try:
            async with asyncio.timeout(MIN_COMMIT_SECONDS):
                await self.conn.execute("ROLLBACK")
        except Exception:
            return False
        return True
