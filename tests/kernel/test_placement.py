"""The leases of a node that serves alone, which it may lose and has to get back."""

from typing import Any

import pytest

from actors.kernel.placement import LocalPlacement
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import OutcomeUnknown
from persistence.nodes import nodes
from persistence.nodes.shards import ALL_SHARDS


class Losing:
    """A database that loses the answer to a commit."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.loses = False

    async def transact(self, unit: Any, *args: Any) -> Any:
        done = await self._database.transact(unit, *args)
        if self.loses:
            raise OutcomeUnknown("the answer was lost")
        return done


async def test_what_was_taken_without_an_answer_is_taken_again_at_once(database: Database) -> None:
    store = Losing(database)
    placement = LocalPlacement(store, nodes, "one")  # type: ignore[arg-type]
    assert await placement.take()
    await database.transact(_bury)
    await placement.renew()
    assert not placement.held()
    store.loses = True
    with pytest.raises(OutcomeUnknown):
        await placement.take()
    store.loses = False
    assert await placement.take()
    assert placement.held() == set(ALL_SHARDS)


async def _bury(conn: Connection) -> None:
    await conn.execute("DELETE FROM nodes")
