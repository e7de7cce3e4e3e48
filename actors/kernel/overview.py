"""A running system as its operators see it: totals for metrics, the statistics of all, and a close look at one."""

from collections.abc import AsyncIterator
from typing import Any, Literal, NamedTuple

import msgspec
import trio
from msgspec.structs import astuple

from actors.kernel.directory import System
from actors.kernel.fanout import Channel
from actors.kernel.statistics import ActorStatistics

SLICE = 200
"""Actors that are looked at between two checkpoints: that takes 0.3 ms."""

MOST_WATCHERS = 100
"""Most subscribers that are named of one actor."""

MOST_EVENTS = 20
"""Most recent events that are named of one actor."""


class Load(NamedTuple):
    """Totals over all owners and views of a process.

    Args:
        actors: how many are live.
        mailbox: commands that are queued.
        replay_bytes: encoded events held in memory for clients that reconnect.
    """

    actors: int
    mailbox: int
    replay_bytes: int


def load_of(system: System) -> Load:
    """The totals now; walks all owners once (0.3 µs each), without making anything of them."""
    owners = system.actors()
    mailbox = replay_bytes = 0
    for owner in owners:
        mailbox += len(owner.mailbox)
        if owner.channel is not None:
            replay_bytes += owner.channel.replay_bytes
    return Load(len(owners) + len(system.live_views()), mailbox, replay_bytes)


class Watcher(msgspec.Struct, frozen=True, rename="camel"):
    """A subscription.

    Args:
        user_id: the viewer; null where all viewers see the same.
        channel: the channel's name on the wire.
        lagging: whether its socket is full, so that it gets the newest snapshot later.
    """

    user_id: str | None
    channel: str
    lagging: bool


class RecentEvent(msgspec.Struct, frozen=True, rename="camel"):
    """An event that is in memory for clients that reconnect; its name, without what it says.

    Args:
        offset: its place in the channel.
        event: the event's name.
    """

    offset: int
    event: str


class Inspected(ActorStatistics, frozen=True, kw_only=True, rename="camel"):
    """One owner or view, looked at closely.

    Args:
        sort: `owner`, which decides commands, or `view`.
        state: `live`; `loading`: it has no state at present; `parked`: faults have it refuse every command for a while.
        parked_until_ms: epoch milliseconds, or null.
        epoch: the epoch of its channel; empty where it has none.
        watchers: the first hundred of its subscribers.
        recent: its newest events, oldest first, twenty at most.
    """

    sort: Literal["owner", "view"]
    state: Literal["live", "loading", "parked"]
    parked_until_ms: int | None
    epoch: str
    watchers: list[Watcher]
    recent: list[RecentEvent]


async def surveyed(system: System, now_ms: int) -> AsyncIterator[list[ActorStatistics]]:
    """The statistics of all owners and views, at most `SLICE` at a time, with a checkpoint after each. Cancellation
    there changes nothing.

    Args:
        now_ms: epoch milliseconds.
    """
    owners, views = system.actors(), system.live_views()
    for start in range(0, len(owners), SLICE):
        yield [owner.statistics(now_ms) for owner in owners[start : start + SLICE]]
        await trio.lowlevel.checkpoint()
    for start in range(0, len(views), SLICE):
        yield [view.statistics(now_ms) for view in views[start : start + SLICE]]
        await trio.lowlevel.checkpoint()


def inspect(system: System, kind: str, id: str, now_ms: int) -> Inspected | None:
    """Look closely at one owner or view; None where none is live.

    Args:
        kind: the name of the owner's kind, or of the view.
        now_ms: epoch milliseconds.
    """
    for owner in system.actors():
        if owner.kind.name == kind and owner.id == id:
            parked = owner.parked_until_ms > now_ms
            loaded = owner.activation is not None
            return Inspected(
                *astuple(owner.statistics(now_ms)),
                sort="owner",
                state="parked" if parked else "live" if loaded else "loading",
                parked_until_ms=owner.parked_until_ms if parked else None,
                **_of_channel(owner.channel),
            )
    for view in system.live_views():
        if view.view.name == kind and view.id == id:
            return Inspected(
                *astuple(view.statistics(now_ms)),
                sort="view",
                state="live" if view.loaded else "loading",
                parked_until_ms=None,
                **_of_channel(view.channel),
            )
    return None


def _of_channel(channel: Channel | None) -> dict[str, Any]:
    if channel is None:
        return {"epoch": "", "watchers": [], "recent": []}
    watchers = [
        Watcher(one.user_id, one.wire_name, lagging=one.is_lagging) for one in channel.some(MOST_WATCHERS)
    ]
    recent = [RecentEvent(offset, _name_of(event)) for offset, event in channel.recent.newest(MOST_EVENTS)]
    return {"epoch": channel.epoch, "watchers": watchers, "recent": recent}


def _name_of(event: Any) -> str:
    """An event's name; that of a view may be no more than the name of what has changed."""
    config = getattr(type(event), "__struct_config__", None)
    tag = None if config is None else config.tag
    return tag if isinstance(tag, str) else type(event).__name__ if config is not None else "changed"
