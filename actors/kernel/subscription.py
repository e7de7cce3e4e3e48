"""One viewer's place in a channel, and what is needed to take it.

A subscription is always in one of three conditions, told by `at`, the number of the last publication it has
had:

    at <= published     it is walked like the others
    at == NEVER         its socket was full: it has left the walk, and gets the newest snapshot when that is writable
    not in the channel  it was closed or ended
"""

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from actors.kernel.group import Group, Shown
from actors.kernel.sink import Envelope, Sink
from actors.kernel.supervisor import Contained

# Above every publication: no walk has anything for a subscription that stands here.
NEVER = sys.maxsize

# The index of a subscription that its channel does not hold (any more).
OUTSIDE = -1

# What a subscriber is told whose frames cannot be made.
INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """Who wants to see what, how, and where to.

    Args:
        sink: the socket.
        viewer: whatever the kind's `audience` takes.
        channel: the channel's name on the wire.
        envelope: how frames look on this sort of stream; only viewers with the same one share bytes.
        mode: `snapshot` = the newest whole state after each turn that changes it; `delta` = one event each.
        opened: called with epoch, offset and recovered, synchronously, before the first frame is offered.
        since: epoch and offset that the client has, to be replayed from; None for a fresh start.
    """

    sink: Sink
    viewer: Any
    channel: str
    envelope: Envelope
    mode: Literal["snapshot", "delta"]
    opened: Callable[[str, int, bool], None]
    since: tuple[str, int] | None = None


class Watched(Protocol):
    """What a subscription needs of its channel."""

    @property
    def shown(self) -> Shown:
        """The kind or view."""
        ...

    @property
    def id(self) -> str:
        """Of the owner or view."""
        ...

    @property
    def live(self) -> bool:
        """There is a state just now."""
        ...

    @property
    def published(self) -> int:
        """The number of the last publication."""
        ...

    @property
    def told(self) -> int:
        """How many events that change the snapshot there have been."""
        ...

    def holds(self, subscription: "Subscription", /) -> bool:
        """Whether it has neither been closed nor ended."""
        ...

    def leave(self, subscription: "Subscription", /) -> None:
        """It was closed."""
        ...

    def place(self, subscription: "Subscription", /) -> bool:
        """Compute its audience anew; whether that is another one."""
        ...

    def told_before(self, at: int, /) -> int:
        """How many events had been told before the first one after publication `at`."""
        ...


class Subscription:
    """Made by `System.watch`; closed by its socket, or ended when the viewer may no longer look.

    Attributes:
        at: the number of the last publication it has had, or `NEVER`.
        index: where its channel, which alone changes it, keeps it; `OUTSIDE` once it was closed or ended.
    """

    __slots__ = ("_missed_from", "at", "channel", "group", "index", "sink", "viewer")

    def __init__(self, channel: Watched, group: Group, sink: Sink, viewer: Any) -> None:
        self.channel = channel
        self.group = group
        self.sink = sink
        self.viewer = viewer
        self.at = NEVER
        self.index = OUTSIDE
        self._missed_from = 0

    @property
    def audience(self) -> Hashable:
        """Whose bytes it receives."""
        return self.group.key.audience

    @property
    def wire_name(self) -> str:
        """The channel's name on the wire, one object for all who watch it alike."""
        return self.group.key.wire_name

    def close(self) -> None:
        """Receive nothing more. Harmless when repeated, and from within an `offer`."""
        self.at = NEVER
        self.channel.leave(self)

    def recheck(self) -> None:
        """Ask the kind again for the audience, because rights have changed; a refusal ends this."""
        if self.channel.holds(self) and self.channel.place(self):
            self.lag(self.channel.told_before(self.at))
            self.catch_up()

    def end(self, code: str) -> None:
        """Close it from our side and tell the client why."""
        if self.channel.holds(self):
            self.close()
            self.sink.end(self.wire_name, code)

    def lag(self, missed_from: int) -> None:
        """Leave the walk until the socket has room; then one snapshot stands for everything since.

        Args:
            missed_from: how many events the channel had told before the first one missed.
        """
        if self.at != NEVER:
            self.at = NEVER
            self._missed_from = missed_from

    def catch_up(self) -> None:
        """Offer the newest snapshot and join the walk again; called by the sink once it has room.

        A sink that is clear takes anything. While the actor has no state (it is loading again) nothing is offered; the
        channel sees to it when the state is there.
        """
        channel = self.channel
        if self.at != NEVER or not channel.holds(self) or not channel.live:
            return
        if not self.sink.clear:
            self.sink.notify_when_writable(self)
            return
        with Contained("catching up", channel.shown.name, channel.id) as catching_up:
            self.sink.offer(self.group.snapshot(channel.told - self._missed_from))
            self.at = channel.published
        if catching_up.fault is not None:
            self.end(INTERNAL)
