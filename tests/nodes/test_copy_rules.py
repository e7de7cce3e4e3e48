"""What a copy makes of each turn that reaches it, and of the state that it reads."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec.msgpack import Decoder

from actors.kernel.counters import Counters
from actors.kernel.fanout import Channel
from actors.kernel.nodes.copy import EARLY_TURNS, Copy, Phase
from actors.kernel.nodes.entries import Turned, encode
from actors.kernel.recovery import Recovered
from actors.kernel.resuming import knows
from actors.kernel.subscription import WatchRequest
from tests.kernel.ledger import KIND, Changed, Kicked, Ledger, Renamed, Viewer, WasRead, Waved
from tests.support.sinks import JsonEnvelope, Socket

DEPOSIT, WAVE, READ = Changed("ann", 5), Waved("ann"), WasRead("ann", 1)


def _recovered(seq: int, version: int, epoch: str = "e") -> Recovered:
    return Recovered(Ledger(), seq, version, epoch, None, 0, 0, from_rows=False)


def _turned(version: int, *events: Any, epoch: str = "e", durable: bool = True) -> Turned:
    return Turned(KIND.name, "x", epoch, version, durable, [encode(event) for event in events])


class Nothing:
    """What channels share, where none is walked by a task."""

    def __init__(self) -> None:
        self.counters = Counters()

    def start(self, *_task: object) -> None:
        """Starts nothing."""


def _copy(*, seq: int = 3, version: int = 5, kind: Any = KIND) -> tuple[Copy, Socket]:
    """A whole copy, and somebody who watches it and has had the snapshot."""

    def open_channel(copy: Copy) -> Channel:
        return Channel(kind, "x", Nothing(), copy)

    copy, socket = Copy(kind, "x", 7, open_channel, Decoder(kind.events).decode), Socket()
    copy.renew(_recovered(seq, version), None, 0)
    assert copy.catch_up()
    opened = socket.on_opened
    request = WatchRequest(socket, Viewer("ann"), "ledger:x", JsonEnvelope(), "delta", opened)
    copy.channel.subscribe(request, None)
    return copy, socket


@pytest.mark.parametrize(
    ("turned", "taken", "shown", "version"),
    [
        (_turned(6, DEPOSIT), True, ["Changed"], 6),
        (_turned(6, DEPOSIT, DEPOSIT, WAVE), True, ["Changed", "Changed", "Waved"], 6),
        (_turned(6), True, [], 6),  # in rows, and nothing of it is shown
        (_turned(6, READ), True, ["read"], 6),
        (_turned(5, DEPOSIT), True, [], 5),  # had
        (_turned(2, DEPOSIT), True, [], 5),
        (_turned(7, DEPOSIT), False, [], 5),  # one is missing
        (_turned(6, DEPOSIT, epoch="f"), False, [], 5),  # another history
        (_turned(5, WAVE, durable=False), True, ["Waved"], 5),
        (_turned(4, WAVE, durable=False), True, [], 5),  # of before
        (_turned(6, WAVE, durable=False), False, [], 5),
        (Turned(KIND.name, "x", "e", 6, True, [b"\xc1"]), False, [], 5),  # of another release
    ],
)
def test_a_copy_takes_the_turn_that_follows_and_no_other(
    turned: Turned, taken: bool, shown: list[str], version: int
) -> None:
    copy, socket = _copy()
    assert copy.take(turned) is taken
    assert [frame["event"] for frame in socket.frames[1:]] == shown
    assert copy.version == version
    offsets = [frame["offset"] for frame in socket.frames[1:] if frame["offset"] is not None]
    assert offsets == list(range(4, 4 + len(offsets)))
    assert copy.channel.offset == 3 + len(offsets)


@pytest.mark.parametrize(
    ("seq", "version", "epoch", "missed", "shown"),
    [
        (3, 5, "e", None, []),
        (5, 7, "e", [(4, DEPOSIT), (5, DEPOSIT)], ["Changed", "Changed"]),
        (4, 6, "e", [(4, DEPOSIT), (5, DEPOSIT)], ["Changed"]),  # read a moment later than the state
        (5, 7, "e", None, ["snapshot"]),  # too many, or not kept
        (5, 7, "e", [(5, DEPOSIT)], ["snapshot"]),  # a gap
        (3, 6, "e", None, ["snapshot"]),  # something has changed that has no offset
        (3, 5, "f", None, ["snapshot"]),
    ],
)
def test_what_was_read(seq: int, version: int, epoch: str, missed: Any, shown: list[str]) -> None:
    copy, socket = _copy()
    copy.renew(_recovered(seq, version, epoch), missed, 0)
    assert [frame.get("event", frame["type"]) for frame in socket.frames[1:]] == shown
    assert (copy.place, copy.channel.offset) == ((epoch, version), seq)
    assert knows(copy.channel, (epoch, seq))


def _names(before: Ledger, after: Ledger) -> Sequence[Renamed]:
    return [] if before.name == after.name else [Renamed(after.name)]


@pytest.mark.parametrize("name_first", [False, True], ids=["rows first", "turn first"])
@pytest.mark.parametrize(
    ("seq", "version", "missed", "shown"),
    [
        (3, 5, None, ["Renamed"]),
        (4, 6, [(4, DEPOSIT)], ["Changed", "Renamed"]),
        (3, 6, None, ["snapshot", "Renamed"]),
        (4, 6, None, ["snapshot", "Renamed"]),
    ],
)
def test_what_snapshots_do_not_show_is_told_once(
    *, name_first: bool, seq: int, version: int, missed: Any, shown: list[str]
) -> None:
    """Whether the rows say it first, or the owner's turn."""
    copy, socket = _copy(kind=replace(KIND, unshown=_names))
    read = replace(_recovered(seq, version), state=Ledger(name="till"))
    copy.changes += 1
    if name_first:
        assert copy.take(_turned(5, Renamed("till"), durable=False))
        shown = ["Renamed", *(one for one in shown if one != "Renamed")]
    copy.renew(read, missed, 1)
    assert copy.take(_turned(version, Renamed("till"), durable=False))
    assert [frame.get("event", frame["type"]) for frame in socket.frames[1:]] == shown
    assert (copy.place, copy.channel.offset, copy.channel.state.name) == (("e", version), seq, "till")


def test_turns_wait_while_rows_are_read() -> None:
    copy, socket = _copy()
    copy.begin_anew()
    copy.phase = Phase.READING
    for version in (6, 7, 8):
        assert copy.take(_turned(version, DEPOSIT))
    assert (copy.version, copy.reach, len(socket.frames)) == (5, 8, 1)
    copy.renew(_recovered(5, 7), [(4, DEPOSIT), (5, DEPOSIT)], 0)
    assert copy.catch_up()
    assert (copy.version, socket.offsets) == (8, [4, 5, 6])
    # The next ones are applied while its new owner has not answered yet, whoever tells them.
    copy.begin_anew()
    assert copy.take(_turned(9, DEPOSIT))
    assert copy.take(_turned(11, DEPOSIT))
    assert (copy.version, copy.phase) == (9, Phase.ASKING)
    assert not copy.catch_up()


def test_not_too_many_wait() -> None:
    copy, _ = _copy()
    copy.phase = Phase.READING
    taken = [copy.take(_turned(6 + number, DEPOSIT)) for number in range(EARLY_TURNS + 1)]
    assert taken == [True] * EARLY_TURNS + [False]


async def test_who_may_no_longer_look_is_shown_no_more() -> None:
    copy, socket = _copy()
    assert copy.take(_turned(6, Kicked("ann")))
    assert socket.ended == [("ledger:x", "FORBIDDEN")]
    assert not copy.is_watched
