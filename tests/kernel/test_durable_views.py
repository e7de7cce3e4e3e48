"""Durable views: offsets that outlive the view, and what was missed read back from rows."""

from collections.abc import Set as AbstractSet
from dataclasses import replace

import msgspec
import pytest
import trio
from trio.testing import MockClock

from actors.kernel.kind import Durable
from tests.kernel.conftest import Stage
from tests.kernel.diary import DIARY, Book, Diary, replay
from tests.support.outlets import Socket


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


async def test_another_history(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
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


def _take(state: Diary, sources: AbstractSet[str], _peek: object) -> tuple[Diary, AbstractSet[str]]:
    """Every source but `turned` is a line that some live owner tells of."""
    told = tuple(source for source in sources if source != "turned")
    known = msgspec.structs.replace(state, offset=state.offset + len(told), lines=state.lines + told)
    return known, sources - set(told)


def _recall(state: Diary, after: int) -> list[tuple[int, str]] | None:
    missed = state.offset - after
    if missed > 2:
        return None
    return list(enumerate(state.lines[len(state.lines) - missed :], after + 1))


RECALLING = replace(
    DIARY,
    take=_take,
    durable=Durable(position=lambda state: (state.epoch, state.offset), replay=replay, recall=_recall),
)
"""The diary of somebody who remembers the last two lines."""


async def test_what_is_in_memory_is_not_read(autojump_clock: MockClock, stage: Stage, book: Book) -> None:
    first = Socket()
    await stage.watch(first, shown=RECALLING, id="ann", mode="delta")

    def reads() -> list[str]:
        return [unit for unit in stage.simulation.reads if unit in ("replay", "_reread")]

    for line in ("three", "four"):
        book.write(line)
        stage.system.changed(RECALLING, "ann", line)
    await trio.sleep(1)
    assert data(first)[1:] == ["three", "four"]
    assert (first.offsets, reads()) == ([3, 4], [])
    # More than is remembered is read; so is what no live owner tells of.
    for line in ("five", "six", "seven"):
        book.write(line)
        stage.system.changed(RECALLING, "ann", line)
    await trio.sleep(1)
    assert (data(first)[3:], reads()) == (["five", "six", "seven"], ["replay"])
    book.write("eight")
    stage.system.changed(RECALLING, "ann", "turned")
    await trio.sleep(1)
    assert (data(first)[6:], reads()[1:]) == (["eight"], ["_reread"])
    assert first.offsets[-1] == 8
