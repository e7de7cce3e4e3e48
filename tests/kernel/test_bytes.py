"""What is held, kept and sent of what has happened is bounded in bytes, whatever its number."""

import pytest
import trio
from trio.testing import MockClock

from actors.kernel import keeping
from actors.kernel.overview import load_of
from actors.kernel.replay_buffer import BUFFER_BYTES, REPLAY_BYTES, ReplayBuffer
from tests.kernel.conftest import Stage
from tests.kernel.diary import DIARY, Book
from tests.kernel.ledger import KIND, Deposit
from tests.support.sinks import Socket

LARGE = "x" * 20_000
"""Of such events 60 are more than a replay may have, and 20 more than is held in memory."""


def test_recent_events_hold_no_more_than_their_bytes() -> None:
    recent = ReplayBuffer(0)
    for offset in range(1, 11):
        recent.record(offset, offset, BUFFER_BYTES // 4)
    assert recent.bytes == BUFFER_BYTES
    assert recent.after(6) == [(n, n) for n in range(7, 11)]
    assert recent.after(5) is None
    recent.record(11, "larger than all", BUFFER_BYTES + 1)
    assert (recent.bytes, recent.after(10), recent.after(11)) == (0, None, [])


async def test_a_replay_of_many_bytes_becomes_a_snapshot(autojump_clock: MockClock, stage: Stage) -> None:
    await stage.ask(Deposit("ann", 0))
    watcher = Socket()
    await stage.watch(watcher, mode="delta")
    count = REPLAY_BYTES // len(LARGE) + 2
    for _ in range(count):
        await stage.ask(Deposit(LARGE, 1))
    assert load_of(stage.system).replay_bytes <= BUFFER_BYTES
    far, near = Socket(), Socket()
    await stage.watch(far, mode="delta", since=("e-a", 1))
    assert [frame["type"] for frame in far.frames] == ["snapshot"]
    assert far.opened == [("e-a", count + 1, False)]
    await stage.watch(near, mode="delta", since=("e-a", count - 20))
    assert near.offsets == list(range(count - 19, count + 2))


async def test_what_a_replay_has_no_room_for_is_not_encoded(autojump_clock: MockClock, stage: Stage) -> None:
    most = REPLAY_BYTES // len(LARGE) + 2
    book = stage.simulation.rows["diary", "ann"] = Book()
    book.write("one", *[LARGE] * 10 * most)
    early = Socket()
    await stage.watch(early, shown=DIARY, id="ann", mode="delta", since=("e1", 1))
    assert (early.opened, len(early.frames)) == ([("e1", len(book.lines), False)], 1)
    assert stage.envelope.encoded <= most
    # As much at once, for somebody who is there: all of it in one publication.
    book.gone = len(book.lines)
    book.write(*[LARGE] * 10 * most)
    before = stage.envelope.encoded
    stage.system.changed(DIARY, "ann", "turned")
    await trio.sleep(1)
    assert [(frame["type"], frame["offset"]) for frame in early.frames[1:]] == [("snapshot", len(book.lines))]
    assert stage.envelope.encoded - before <= most
    # One alone is sent, whatever its size.
    book.write("x" * 2 * REPLAY_BYTES)
    stage.system.changed(DIARY, "ann", "turned")
    await trio.sleep(1)
    assert early.offsets == [len(book.lines)]


async def test_no_journal_grows_beyond_its_bytes(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "JOURNAL_BYTES", 10 * len(LARGE))
    monkeypatch.setattr(keeping, "TRIM_BYTES", 2 * len(LARGE))
    for _ in range(40):
        await stage.ask(Deposit(LARGE, 1))
        await trio.sleep(0.1)
        held = stage.simulation.events["ledger", "a"]
        assert sum(len(row.event) for row in held) <= 13 * len(LARGE)
    assert held[-1].seq == 40
    # What is gone is told as what was never kept for long: by a snapshot.
    await trio.sleep(70)
    socket = Socket()
    await stage.watch(socket, mode="delta", since=("e-a", 2))
    assert socket.opened == [("e-a", 40, False)]


async def test_no_snapshot_is_kept_that_is_larger_than_its_bound(
    autojump_clock: MockClock, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "SNAPSHOT_BYTES", 1_000)
    await stage.ask(Deposit("ann", 1))
    await stage.ask(Deposit(LARGE, 1), id="b")
    await trio.sleep(70)
    assert [id for _, id in stage.simulation.snapshots] == ["a"]
    await stage.ask(Deposit("ann", 1), id="b")
    assert stage.system.peek(KIND, "b").total == 2
