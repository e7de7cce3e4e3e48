"""Views that many want at once: read together, failing alone."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import trio
from trio.testing import MockClock

from actors.errors import NotFound
from actors.kernel.supervisor import Fault
from actors.kernel.view_loads import AT_ONCE, MOST_TOGETHER
from persistence.errors import DatabaseUnavailable, PersistenceError, RowsRejected
from tests.kernel.conftest import Stage
from tests.kernel.purse import PURSE, Purse, load_purse
from tests.support.sinks import Socket


async def load_purses(conn: Any, ids: Sequence[str]) -> dict[str, Purse]:
    assert len(set(ids)) == len(ids)
    if "rejected" in ids:
        raise RowsRejected
    found = {id: await load_purse(conn, id) for id in ids}
    return {id: purse for id, purse in found.items() if purse is not None}


PURSES = replace(PURSE, load_many=load_purses)


async def look_all(stage: Stage, ids: Sequence[str]) -> dict[str, Any]:
    """{user: the data of their first frame, or the error that they got}; all ask at once."""
    seen: dict[str, Any] = {}

    async def look(id: str) -> None:
        socket = Socket()
        try:
            await stage.watch(socket, id, shown=PURSES, id=id)
        except (NotFound, Fault, PersistenceError) as error:
            seen[id] = type(error)
        else:
            seen[id] = socket.frames[0]["data"]

    async with trio.open_nursery() as nursery:
        for id in ids:
            nursery.start_soon(partial(look, id))
    return seen


async def test_many_are_read_together(autojump_clock: MockClock, stage: Stage) -> None:
    users = [f"user {number}" for number in range(3 * MOST_TOGETHER)]
    for number, user in enumerate(users):
        stage.simulation.rows["purse", user] = {"a": number}
    assert await look_all(stage, users) == {user: {"a": number} for number, user in enumerate(users)}
    assert stage.simulation.reads == ["load_purses"] * 3


async def test_one_is_read_at_once_though_others_are_under_way(
    autojump_clock: MockClock, stage: Stage
) -> None:
    stage.simulation.delay_seconds = (1, 1)
    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(look_all, stage, [f"early {number}"])
            await trio.sleep(0.1)
        nursery.start_soon(look_all, stage, ["ann", "bob"])
        await trio.sleep(0.1)
        assert stage.simulation.reads == ["load_purse"] * AT_ONCE
    assert [read for read in stage.simulation.reads if "purse" in read][AT_ONCE:] == ["load_purses"]


async def test_one_that_is_not_there_is_told_so(autojump_clock: MockClock, stage: Stage) -> None:
    assert await look_all(stage, ["ann", "nobody", "bob"]) == {"ann": {}, "nobody": NotFound, "bob": {}}


async def test_one_whose_rows_cannot_be_understood_fails_alone(
    autojump_clock: MockClock, stage: Stage
) -> None:
    stage.simulation.rows["purse", "bob"] = 5
    assert await look_all(stage, ["ann", "bob", "cid"]) == {"ann": {}, "bob": Fault, "cid": {}}
    assert stage.simulation.reads == ["load_purses", *["load_purse"] * 3]


async def test_where_a_statement_is_refused_each_is_read_alone(
    autojump_clock: MockClock, stage: Stage
) -> None:
    assert await look_all(stage, ["ann", "rejected"]) == {"ann": {}, "rejected": {}}


async def test_without_a_database_all_are_told_at_once(autojump_clock: MockClock, stage: Stage) -> None:
    stage.simulation.away = True
    users = ["ann", "bob", "cid"]
    assert await look_all(stage, users) == dict.fromkeys(users, DatabaseUnavailable)
    assert stage.simulation.reads == ["load_purses"]
    stage.simulation.away = False
    assert await look_all(stage, users) == {user: {} for user in users}


async def test_viewers_that_leave_while_theirs_is_read(autojump_clock: MockClock, stage: Stage) -> None:
    stage.simulation.delay_seconds = (1, 1)
    with trio.move_on_after(0.5):
        await look_all(stage, ["ann", "bob"])
    await trio.sleep(2)
    assert stage.system.statistics() == []
    assert await look_all(stage, ["ann", "bob"]) == {"ann": {}, "bob": {}}


async def test_one_that_was_left_waits_beside_its_successor(autojump_clock: MockClock, stage: Stage) -> None:
    stage.simulation.delay_seconds = (1, 1)
    async with trio.open_nursery() as nursery:
        for number in range(AT_ONCE):
            nursery.start_soon(look_all, stage, [f"early {number}"])
            await trio.sleep(0.1)
        with trio.move_on_after(0.1):
            await look_all(stage, ["ann"])
        assert await look_all(stage, ["ann", "bob"]) == {"ann": {}, "bob": {}}
    assert "load_purses" in stage.simulation.reads
