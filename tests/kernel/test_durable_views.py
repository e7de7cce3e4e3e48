"""Durable views: offsets that outlive the view, and what was missed read back from rows."""

from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock

from actors.kernel.replay_buffer import BUFFER_BYTES
from tests.kernel.conftest import Stage
from tests.kernel.diary import DIARY, REMEMBERED, Book
from tests.support.sinks import Socket


@pytest.fixture
def book(stage: Stage) -> Book:
    book = stage.simulation.rows["diary", "ann"] = Book()
    book.write("one", "two")
    return book


async def look(stage: Stage, mode: str = "delta", since: tuple[str, int] | None = None) -> Socket:
    socket = Socket()
    await stage.watch(socket, shown=DIARY, id="ann", mode=mode, since=since)
    return socket


async def changed(stage: Stage, source: str = "turned") -> None:
    stage.system.changed(DIARY, "ann", source)
    await trio.sleep(1)


def data(socket: Socket) -> list[object]:
    return [frame["data"] for frame in socket.frames]


async def test_it_stands_where_its_rows_stand(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
    first = await look(stage)
    assert first.opened == [("e1", 2, False)]
    book.write("three", "four")
    await changed(stage)
    assert data(first)[1:] == ["three", "four"]
    assert first.offsets == [3, 4]


async def test_an_offset_outlives_the_view(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
    book.write("three")
    first = await look(stage, since=("e1", 1))
    assert first.opened == [("e1", 3, True)]
    assert data(first) == ["two", "three"]
    assert (await look(stage, since=("e1", 3))).opened == [("e1", 3, True)]
    for since in (("e1", 4), ("e0", 1)):
        assert (await look(stage, since=since)).opened == [("e1", 3, False)]
    showing = await look(stage, "snapshot", since=("e1", 1))
    assert (showing.opened, len(showing.frames)) == ([("e1", 3, False)], 1)


async def test_what_is_no_longer_kept_is_a_snapshot(
    autojump_clock: MockClock, stage: Stage, book: Book
) -> None:
    book.gone = 1
    first = await look(stage, since=("e1", 0))
    assert first.opened == [("e1", 2, False)]
    assert data(first) == [{"cover": "red", "lines": ["two"]}]
    # So much at once that the rows no longer tell: everybody takes a snapshot.
    book.write("three", "four")
    book.gone = 3
    await changed(stage)
    assert data(first)[1:] == [{"cover": "red", "lines": ["four"]}]
    assert first.frames[-1]["offset"] == 4


async def test_a_change_without_an_event(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
    telling, showing = await look(stage), await look(stage, "snapshot")
    await changed(stage)
    assert (len(telling.frames), len(showing.frames)) == (1, 1)
    book.cover = "blue"
    await changed(stage)
    assert len(telling.frames) == 1
    assert data(showing)[1:] == [{"cover": "blue", "lines": ["one", "two"]}]
    assert showing.frames[-1]["offset"] == 2


async def test_a_view_of_another_history_is_told_by_a_snapshot(
    autojump_clock: MockClock, stage: Stage, book: Book
) -> None:
    first = await look(stage)
    book.epoch, book.lines = "e2", ["new"]
    await changed(stage)
    assert (first.frames[-1]["epoch"], first.frames[-1]["offset"]) == ("e2", 1)
    assert data(first)[1:] == [{"cover": "red", "lines": ["new"]}]


async def test_it_goes_on_where_the_database_was_away(
    autojump_clock: MockClock, stage: Stage, book: Book
) -> None:
    first = await look(stage)
    stage.simulation.away = True
    book.write("three")
    await changed(stage)
    book.write("four")
    stage.simulation.away = False
    await trio.sleep(2)
    assert data(first)[1:] == ["three", "four"]
    assert first.offsets == [3, 4]


async def test_what_a_state_remembers_is_not_read(
    autojump_clock: MockClock, stage: Stage, book: Book
) -> None:
    socket = Socket()
    await stage.watch(socket, shown=REMEMBERED, id="ann", mode="delta")
    book.write("three", "four")
    stage.system.changed(REMEMBERED, "ann", "turned")
    await trio.sleep(1)
    assert (data(socket)[1:], stage.simulation.reads.count("_replay")) == (["three", "four"], 0)
    book.write("five", "six", "seven")
    stage.system.changed(REMEMBERED, "ann", "turned")
    await trio.sleep(1)
    assert (data(socket)[3:], stage.simulation.reads.count("_replay")) == (["five", "six", "seven"], 1)
    assert socket.offsets == [3, 4, 5, 6, 7]


async def test_events_are_kept_by_what_they_take(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
    durable = DIARY.durable
    assert durable is not None
    heavy = replace(DIARY, durable=replace(durable, size_bytes=lambda _line: BUFFER_BYTES // 2))
    socket = Socket()
    subscription = await stage.watch(socket, shown=heavy, id="ann", mode="delta")
    book.write("three", "four", "five")
    stage.system.changed(heavy, "ann", "turned")
    await trio.sleep(1)
    assert data(socket)[1:] == ["three", "four", "five"]
    assert [event for _, event in subscription.channel.recent.newest(9)] == ["four", "five"]
