"""The bound of what is held in memory for whoever watches, over all owners, copies and views of a process.

Each holds its newest messages for snapshots, and its newest events for clients that come back, a megabyte at most; rows
hold both as well. Thousands that are watched for hours would hold gigabytes. So all are looked at now and then, and
where together they have more to spare than the bound, those that were quiet for longest give up what they can do
without, until a quarter of the room is free. Nobody who watches is sent anything, and turns cost nothing for it.

What was given up is read from rows when it is asked for: pages of messages, missed events. Snapshots hold fewer
messages, and say that there are more. Memory fills again with what happens next, and whole when the owner is loaded.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import trio

from actors.kernel.actor import Actor
from actors.kernel.counters import Counters
from actors.kernel.fanout import Channel
from actors.kernel.kind import Kind
from actors.kernel.live_views import LiveView
from actors.kernel.nodes.copy import Copy
from actors.kernel.supervisor import attempt

SPARE_BYTES = 256 * 1024 * 1024
"""How much all owners, copies and views of a process may hold of what they can do without."""

LOOK_SECONDS = 5.0
"""How often they are looked at. A socket takes several times as long to have one megabyte more of each loaded."""

SLICE = 500
"""Owners, copies or views that are looked at between two checkpoints: that takes 0.3 ms."""

SLIM_SLICE = 20
"""Those that are slimmed between two checkpoints: of a full one that takes 0.1 ms."""


class Watched(Protocol):
    """What is looked at: the parts of a system."""

    @property
    def counters(self) -> Counters:
        """Totals since the start of the system."""
        ...

    def actors(self) -> list[Actor]:
        """All owners in the directory."""
        ...

    def watched_copies(self) -> list[Copy]:
        """All copies of owners on other nodes."""
        ...

    def live_views(self) -> list[LiveView]:
        """All views that are watched."""
        ...


class Holding(NamedTuple):
    """One owner, copy or view that has something to spare.

    Args:
        changed_ms: epoch milliseconds of its last change; 0 where that is not known.
        spare_bytes: about what it could do without.
        who: the owner, copy or view.
    """

    changed_ms: int
    spare_bytes: int
    who: Actor | Copy | LiveView


async def keep_slim(system: Watched, most_bytes: int) -> None:
    """Keep what all can do without below a bound. Runs until cancelled.

    Args:
        system: whose owners, copies and views.
        most_bytes: the bound.
    """
    while True:
        await trio.sleep(LOOK_SECONDS)
        await _slim_some(system, most_bytes)


async def _slim_some(system: Watched, most_bytes: int) -> None:
    """Look at all once; nobody who has gone by the next time is held until then."""
    held = await _look(system)
    spare_bytes = sum(one.spare_bytes for one in held)
    if spare_bytes <= most_bytes:
        return
    held.sort(key=_changed_ms)
    for number, one in enumerate(held, 1):
        if spare_bytes <= most_bytes * 3 // 4:
            break
        spare_bytes -= one.spare_bytes
        system.counters.slimmed += 1
        kind, id = _name(one.who)
        attempt("holding less in memory", kind, id, _slim, one.who)
        if number % SLIM_SLICE == 0:
            await trio.lowlevel.checkpoint()


async def _look(system: Watched) -> list[Holding]:
    held: list[Holding] = []
    everybody: list[Actor | Copy | LiveView] = [
        *system.actors(),
        *system.watched_copies(),
        *system.live_views(),
    ]
    for first in range(0, len(everybody), SLICE):
        held += _holdings(everybody[first : first + SLICE])
        await trio.lowlevel.checkpoint()
    return held


def _holdings(some: list[Actor | Copy | LiveView]) -> Iterator[Holding]:
    for one in some:
        if isinstance(one, Actor):
            state = None if one.activation is None else one.activation.state
            found = _holding(one, one.kind, one.channel, state)
        elif isinstance(one, Copy):
            found = _holding(one, one.kind, one.channel, one.channel.state)
        else:
            found = Holding(0, one.channel.replay_bytes, one)
        if found.spare_bytes:
            yield found


def _holding(who: Actor | Copy, kind: Kind[Any, Any], channel: Channel | None, state: Any) -> Holding:
    replay_bytes = 0 if channel is None else channel.replay_bytes
    if kind.slimming is None or state is None:
        return Holding(0, replay_bytes, who)
    return Holding(kind.slimming.changed_ms(state), replay_bytes + kind.slimming.spare_bytes(state), who)


def _changed_ms(one: Holding) -> int:
    return one.changed_ms


def _name(who: Actor | Copy | LiveView) -> tuple[str, str]:
    return (who.view.name if isinstance(who, LiveView) else who.kind.name), who.id


def _slim(who: Actor | Copy | LiveView) -> None:
    if isinstance(who, Actor):
        if who.activation is not None:
            who.activation.slim()
        return
    channel = who.channel
    state = channel.state
    if isinstance(who, Copy) and who.kind.slimming is not None and state is not None:
        state = who.kind.slimming.slim(state)
    channel.slim(state)
