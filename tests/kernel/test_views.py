"""Views: loaded once, told what changed, framed at most once an interval."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import ClassVar

import pytest
import trio
from trio.testing import MockClock

from actors.errors import NotFound
from actors.kernel.facets import Delta, Forgotten
from actors.kernel.kind import Event
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, Deposit
from tests.kernel.purse import PURSE, Purse
from tests.support.sinks import Socket


async def look(stage: Stage, socket: Socket, user_id: str = "ann", **options: object) -> object:
    return await stage.watch(socket, user_id, shown=PURSE, id=user_id, **options)  # type: ignore[arg-type]


async def test_a_view_loads_once_and_frames(autojump_clock: MockClock, stage: Stage) -> None:
    stage.simulation.rows["purse", "ann"] = {"a": 1}
    sockets = [Socket() for _ in range(5)]
    async with trio.open_nursery() as nursery:
        for socket in sockets:
            nursery.start_soon(partial(look, stage, socket))
    assert [socket.frames[0]["data"] for socket in sockets] == [{"a": 1}] * 5
    assert stage.simulation.reads == ["load_purse"]
    assert len({socket.opened[0] for socket in sockets}) == 1


async def test_an_owners_events_reach_the_views_they_touch(autojump_clock: MockClock, stage: Stage) -> None:
    ann, bob, delta = Socket(), Socket(), Socket()
    await look(stage, ann)
    await look(stage, bob, "bob")
    await look(stage, delta, mode="delta")
    await stage.ask(Deposit("ann", 4))
    await trio.sleep(0.01)
    assert [frame["data"] for frame in ann.frames] == [{}, {"a": 4}]
    assert [frame["offset"] for frame in ann.frames] == [0, 1]
    assert len(bob.frames) == 1
    assert delta.frames[1]["data"] == {"a": 4}
    assert delta.offsets == [1]
    # Taken from the live owner: nothing was read but the two views and the owner.
    assert stage.simulation.reads.count("_reread") == 0


async def test_at_once_when_quiet_then_once_an_interval(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await look(stage, socket)
    times: list[float] = []
    socket.offer = lambda prepared: times.append(trio.current_time()) or True  # type: ignore[method-assign, func-returns-value]
    await trio.sleep(1)
    started = trio.current_time()
    for _ in range(100):
        await stage.ask(Deposit("ann", 1))
        await trio.sleep(0.005)
    await trio.sleep(1)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert times[0] - started < 0.02
    assert all(gap >= 0.249 for gap in gaps)
    assert 3 <= len(times) <= 6


async def test_what_no_owner_can_tell_is_read(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await stage.ask(Deposit("ann", 3), id="b")
    await trio.sleep(70)
    assert stage.system.peek(KIND, "b") is None
    await look(stage, socket)
    stage.system.changed(PURSE, "ann", "b")
    await trio.sleep(0.1)
    assert socket.frames[-1]["data"] == {"b": 3}
    assert stage.system.peek(KIND, "b") is None


async def test_a_view_stays_dirty_until_it_could_be_read(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await look(stage, socket)
    stage.simulation.away = True
    stage.system.changed(PURSE, "ann", "b")
    await trio.sleep(5)
    assert len(socket.frames) == 1
    assert stage.system.statistics()[0].last_error == "DatabaseUnavailable"
    stage.simulation.away = False
    await trio.sleep(2)
    assert socket.frames[-1]["data"] == {"b": 0}


async def test_changes_while_it_loads_are_not_missed(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    stage.simulation.delay_seconds = (1, 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(look, stage, socket))
        await trio.sleep(0.5)
        stage.system.changed(PURSE, "ann", "b")
    await trio.sleep(3)
    assert socket.frames[-1]["data"] == {"b": 0}


async def test_what_rows_have_shown_is_not_taken_back_by_an_owner_that_is_not_told_yet(
    autojump_clock: MockClock, stage: Stage
) -> None:
    """Its turn is in rows, which the view has read, and a moment later in its state."""
    socket = Socket()
    await stage.ask(Deposit("ann", 1))
    stage.simulation.told_after_seconds = 2
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.ask, Deposit("ann", 3))
        await trio.sleep(0.5)
        stage.simulation.rows["purse", "ann"] = {"a": 4}
        await look(stage, socket)
        stage.system.changed(PURSE, "ann", "a")
        await trio.sleep(0.5)
        assert stage.system.peek(KIND, "a").total == 1  # type: ignore[union-attr]
    await trio.sleep(1)
    assert {frame["data"]["a"] for frame in socket.frames} == {4}
    # An owner whose turn began later is believed.
    before = stage.simulation.reads.count("_reread")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.ask, Deposit("ann", 5))
        await trio.sleep(0.5)
        stage.system.changed(PURSE, "ann", "a")
        await trio.sleep(0.5)
        assert socket.frames[-1]["data"] == {"a": 4}
    await trio.sleep(1)
    assert socket.frames[-1]["data"] == {"a": 9}
    assert stage.simulation.reads.count("_reread") == before


async def test_a_view_whose_rules_raise_is_loaded_whole(autojump_clock: MockClock, stage: Stage) -> None:
    socket = Socket()
    await look(stage, socket)
    stage.simulation.rows["purse", "ann"] = {"b": 9}
    stage.system.changed(PURSE, "ann", "poison")
    await trio.sleep(2)
    assert socket.frames[-1]["data"] == {"b": 9}
    assert socket.opened[0][0] != socket.frames[-1]["epoch"]
    stage.system.changed(PURSE, "ann", "a")
    await trio.sleep(2)
    assert socket.frames[-1]["data"] == {"a": 0, "b": 9}


async def test_one_that_cannot_be_loaded_again_is_tried_ever_more_rarely(
    autojump_clock: MockClock, stage: Stage
) -> None:
    socket = Socket()
    await look(stage, socket)
    for number in range(2):  # it begins anew once a change was taken in
        stage.simulation.reads.clear()
        stage.simulation.rows["purse", "ann"] = 5  # rows that cannot be understood
        stage.system.changed(PURSE, "ann", "poison")
        tries = []
        for seconds in (0.9, 1, 2, 4, 8, 16, 30, 30):
            await trio.sleep(seconds)
            tries.append(stage.simulation.reads.count("load_purse"))
        assert tries == [1, 2, 3, 4, 5, 6, 7, 8]
        stage.simulation.rows["purse", "ann"] = {"b": number}
        await trio.sleep(30)
        assert stage.simulation.reads.count("load_purse") == 9
        assert socket.frames[-1]["data"] == {"b": number}
        stage.system.changed(PURSE, "ann", "a")
        await trio.sleep(1)
        assert socket.frames[-1]["data"] == {"a": 0, "b": number}


async def test_a_view_ends_with_its_last_viewer(autojump_clock: MockClock, stage: Stage) -> None:
    first = await look(stage, Socket())
    second = await look(stage, Socket())
    first.close()  # type: ignore[attr-defined]
    assert len(stage.system.statistics()) == 1
    second.close()  # type: ignore[attr-defined]
    assert stage.system.statistics() == []
    stage.system.changed(PURSE, "ann", "a")
    await look(stage, Socket())
    assert stage.simulation.reads.count("load_purse") == 2


async def test_no_view_has_the_epoch_of_an_earlier_load_or_of_another_user(
    autojump_clock: MockClock, stage: Stage
) -> None:
    """Those that one socket wants at once share one; whoever comes with another's place gets a snapshot."""
    stage.simulation.rows["purse", "bob"] = {"b": 1}
    ann, twin, bob, again = Socket(), Socket(), Socket(), Socket()
    second = replace(PURSE, name="second purse")
    with stage.system.watching.expecting([(PURSE, "ann"), (second, "ann")]) as expected:
        await expected.wait_landed()
        of_ann = await look(stage, ann)
        await stage.watch(twin, "ann", shown=second, id="ann")
    epoch = ann.opened[0][0]
    assert twin.opened[0][0] == epoch
    await look(stage, bob, "bob", mode="delta", since=(epoch, 0))
    assert bob.opened[0][0] != epoch
    assert bob.frames[0]["data"] == {"b": 1}
    of_ann.close()  # type: ignore[attr-defined]
    await look(stage, again, mode="delta", since=(epoch, 0))
    assert again.opened[0][0] != epoch
    assert not again.opened[0][2]


async def test_a_view_that_cannot_be_loaded(autojump_clock: MockClock, stage: Stage) -> None:
    with pytest.raises(NotFound):
        await look(stage, Socket(), "nobody")
    stage.simulation.away = True
    with pytest.raises(DatabaseUnavailable):
        await look(stage, Socket())
    stage.simulation.away = False
    stage.simulation.rows["purse", "ann"] = 5
    with pytest.raises(Fault):
        await look(stage, Socket())
    assert stage.system.statistics() == []
    await trio.sleep(60)
    assert stage.system.statistics() == []


async def test_a_viewer_that_leaves_while_it_loads(autojump_clock: MockClock, stage: Stage) -> None:
    stage.simulation.delay_seconds = (1, 1)
    with trio.move_on_after(0.5):
        await look(stage, Socket())
    await trio.sleep(2)
    assert stage.system.statistics() == []


async def test_events_that_were_missed_are_replayed(autojump_clock: MockClock, stage: Stage) -> None:
    first = Socket()
    await look(stage, first)
    await stage.ask(Deposit("ann", 4))
    await trio.sleep(1)
    await stage.ask(Deposit("ann", 1), id="b")
    await trio.sleep(1)
    epoch = first.opened[0][0]
    socket = Socket()
    await look(stage, socket, mode="delta", since=(epoch, 1))
    assert socket.opened == [(epoch, 2, True)]
    assert [frame["data"] for frame in socket.frames] == [{"b": 1}]
    stranger = Socket()
    await look(stage, stranger, mode="delta", since=("other", 1))
    assert stranger.opened == [(epoch, 2, False)]


async def test_a_snapshot_stands_for_what_is_forgotten(autojump_clock: MockClock, stage: Stage) -> None:
    """For those who come back, and for those who are told now."""
    forgotten: set[str] = set()

    def shown(state: Purse, source: str, _audience: object) -> Delta:
        if source in forgotten:
            raise Forgotten
        return Delta("purse", {source: state.totals[source]})

    view = replace(PURSE, name="forgetful", rendering=replace(PURSE.rendering, render_event=shown))
    await stage.ask(Deposit("ann", 4))
    await stage.ask(Deposit("ann", 1), id="b")
    first = Socket()
    await stage.watch(first, "ann", shown=view, id="ann", mode="delta")
    for source in ("a", "b"):
        stage.system.changed(view, "ann", source)
        await trio.sleep(1)
        forgotten.add("a")
    assert [frame["data"] for frame in first.frames] == [{}, {"a": 4}, {"b": 1}]
    epoch, back = first.opened[0][0], Socket()
    await stage.watch(back, "ann", shown=view, id="ann", mode="delta", since=(epoch, 0))
    assert back.opened == [(epoch, 2, False)]
    assert [frame["data"] for frame in back.frames] == [{"a": 4, "b": 1}]
    stage.system.changed(view, "ann", "a")
    await trio.sleep(1)
    assert [socket.frames[-1]["type"] for socket in (first, back)] == ["snapshot"] * 2
    assert [socket.frames[-1]["offset"] for socket in (first, back)] == [3, 3]


class Grew(Event, frozen=True):
    source: str


class Seen(Event, frozen=True):
    source: str
    journaled: ClassVar[bool] = False


def _grown(before: Purse, after: Purse, sources: Collection[str]) -> Sequence[Event]:
    """`seen:a` is told without an offset, and a source whose total has not moved is not told at all."""
    return [
        Seen(source) if source.startswith("seen") else Grew(source)
        for source in sources
        if source.startswith("seen") or before.totals.get(source) != after.totals.get(source)
    ]


class Memory:
    """What live views share, kept by `adopt` and `release`."""

    def __init__(self) -> None:
        self.followed: list[tuple[dict[str, int] | None, dict[str, int]]] = []
        self.released: list[dict[str, int]] = []
        self.view = replace(
            PURSE,
            name="shared",
            take=lambda state, sources, peek: (state, {one for one in sources if not one.startswith("seen")}),
            rendering=replace(
                PURSE.rendering,
                render_event=lambda state, event, audience: Delta(type(event).__name__, event.source),
            ),
            adopt=self._adopt,
            release=lambda state: self.released.append(state.totals),
            events=_grown,
        )

    def _adopt(self, before: Purse | None, after: Purse) -> Purse:
        self.followed.append((None if before is None else before.totals, after.totals))
        return after


async def test_a_view_says_which_events_its_changes_are(autojump_clock: MockClock, stage: Stage) -> None:
    view = Memory().view
    await stage.ask(Deposit("ann", 3), id="b")
    newest, deltas = Socket(), Socket()
    await stage.watch(newest, "ann", shown=view, id="ann")
    await stage.watch(deltas, "ann", shown=view, id="ann", mode="delta")
    for source in ("seen:x", "b", "b", "seen:y"):
        stage.system.changed(view, "ann", source)
        await trio.sleep(1)
    assert [(frame["event"], frame["offset"]) for frame in deltas.frames[1:]] == [
        ("Seen", None),
        ("Grew", 1),
        ("Seen", None),
    ]
    assert [frame["offset"] for frame in newest.frames] == [0, 0, 1, 1]


async def test_a_view_tells_what_it_shows_as_long_as_it_lives(
    autojump_clock: MockClock, stage: Stage
) -> None:
    memory = Memory()
    await stage.ask(Deposit("ann", 3), id="b")
    subscription = await stage.watch(Socket(), "ann", shown=memory.view, id="ann")
    stage.system.changed(memory.view, "ann", "b")
    await trio.sleep(1)
    assert memory.followed == [(None, {}), ({}, {"b": 3})]
    subscription.close()
    assert memory.released == [{"b": 3}]


async def test_what_is_read_for_nobody_is_not_taken_in(autojump_clock: MockClock, stage: Stage) -> None:
    memory = Memory()
    await stage.ask(Deposit("ann", 3), id="b")
    subscription = await stage.watch(Socket(), "ann", shown=memory.view, id="ann")
    stage.simulation.delay_seconds = (1, 1)
    stage.system.changed(memory.view, "ann", "b")
    await trio.sleep(0.5)
    subscription.close()
    with trio.move_on_after(0.5):
        await stage.watch(Socket(), "ann", shown=memory.view, id="ann")
    await trio.sleep(5)
    assert memory.followed == [(None, {})]
    assert memory.released == [{}]
