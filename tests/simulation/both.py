"""The simulated database beside the real one: each is asked the same, and both must answer the same."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import trio

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.journal import journal
from persistence.journal.turn import Turn
from persistence.nodes import nodes
from tests.chat.stage import make_users
from tests.simulation.chat_rows import USERS
from tests.simulation.image import NAMES, USER_IDS
from tests.simulation.tables import Tables


class Both:
    """The two databases, each asked in its own way."""

    def __init__(self, database: Database, tables: Tables) -> None:
        self.database = database
        self.tables = tables
        self.outcomes: set[type[Any]] = set()

    async def unit(self, name: str, *args: Any, of: Any = journal, **options: Any) -> Any:
        """The answer of a statement of `journal` or `nodes`, from both."""

        async def real(conn: Connection) -> Any:
            return await getattr(of, name)(conn, *args, **options)

        async def simulated() -> Any:
            return await getattr(self.tables, name)(self.tables, *args, **options)

        run = self.database.transact if name in _WRITES else self.database.read
        answers = await _answer(run, real), await _answer(simulated)
        assert _plain(answers[0]) == _plain(answers[1]), (name, args, options)
        return answers[1]

    async def turn(self, turn: Turn, real_persist: Any, real_plan: Any) -> Any:
        """What the writer answers to a turn, from both."""
        told: list[Any] = []
        done = trio.Event()

        def heard(outcome: PersistenceError | None) -> None:
            told.append(outcome)
            done.set()

        self.database.submit(msgspec.structs.replace(turn, persist=real_persist, plan=real_plan), heard)
        await done.wait()
        outcome = await self.tables.land(turn)
        assert type(told[0]) is type(outcome), (told, outcome, turn)
        self.outcomes.add(type(outcome))
        return outcome


_WRITES = {
    "save_snapshot",
    "trim",
    "seal",
    "hold_alone",
    "renew",
    "leave",
    "create_head",
    "rewrite_events",
    "forget_until",
}


async def _answer(run: Callable[..., Awaitable[Any]], *args: Any) -> Any:
    try:
        return await run(*args)
    except PersistenceError as error:
        return type(error).__name__


def _plain(answer: Any) -> Any:
    return list(answer) if isinstance(answer, tuple | list) and not hasattr(answer, "_fields") else answer


async def both_with_users(database: Database) -> Both:
    """Both with the users of the simulation, and with everything owned by one node."""
    tables = Tables(trio.current_time)
    await database.transact(make_users, NAMES)
    tables.rows[USERS] = dict(zip(USER_IDS, NAMES, strict=True))
    held = await database.transact(nodes.hold_alone, "n1", 60.0)
    assert held is not None
    tables.lives = held[0] - 1  # the sequence of lives is never set back
    assert await tables.hold_alone(tables, "n1", 60.0) == held
    return Both(database, tables)
