"""Whoever has a notification by an erased user is told that it no longer names them, however that is interrupted."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec.json import encode
from msgspec.structs import replace

from actors.users.forgetting import forget_in_notifications
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.errors import OutcomeUnknown
from persistence.users.erasure import PAGE_ROWS
from tests.notifications.rows import added, make_users, notification, user

ANN = user(9)


class Breaking:
    """A database that loses the answer to the first COMMIT whose turn it is."""

    def __init__(self, database: Database, turn: int) -> None:
        self.read, self.submit = database.read, database.submit
        self._database = database
        self._left = turn

    async def transact(self, unit: Callable[..., Awaitable[Any]], /, *args: object) -> Any:
        done = await self._database.transact(unit, *args)
        self._left -= 1
        if not self._left:
            raise OutcomeUnknown
        return done


async def _page_of_others(conn: Connection) -> None:
    await conn.execute(
        "INSERT INTO notifications SELECT (jsonb_populate_record(n, jsonb_build_object("
        "'id', lpad(to_hex(1000 + g), 24, '0'), 'number', 1000 + g, 'actor_id', 'else'))).*"
        " FROM notifications n, generate_series(1, $1) AS g WHERE n.user_id = $2",
        PAGE_ROWS,
        user(1),
    )


@pytest.mark.parametrize("lost", [1, 2])
async def test_all_are_told(database: Database, lost: int) -> None:
    await make_users(database, 1, 2, 9)
    data = encode({"name": "Ann"})
    first, last = (notification(number, user(of), actor_id=ANN) for number, of in ((1, 1), (9_999, 2)))
    await added(database, replace(first, data=data), replace(last, data=data))
    await database.transact(_page_of_others)
    told: set[str] = set()
    with pytest.raises(OutcomeUnknown):
        await forget_in_notifications(Breaking(database, lost), ANN, told.update)
    assert told == ({user(1)} if lost == 2 else set())
    told.clear()
    await forget_in_notifications(database, ANN, told.update)
    assert told == {user(1), user(2)}
