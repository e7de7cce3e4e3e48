"""One viewer's subscription to a channel, and the request that opens it.

A channel serves its subscriptions by walking over them. One of three things holds for each; `at` is the number of the
last publication that it was sent:

    at <= published     it is served by the walk
    at >= LAGGING       its socket was full: it has left the walk, and gets the newest snapshot when that is writable;
                        what is above LAGGING is how many reframing events there were before the first one that it
                        missed
    not in the channel  it was closed or ended
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, cast

from actors.kernel.counters import Counters
from actors.kernel.group import Group, Shown
from actors.kernel.sink import Envelope, Sink
from actors.kernel.supervisor import Contained

# Above the number of every publication, so that a walk sends nothing to a subscription with this `at`, or more.
LAGGING = 1 << 61

# The index of a subscription that its channel does not hold, or no longer holds.
OUTSIDE = -1

# The code sent to a subscriber whose frames cannot be made.
INTERNAL = "INTERNAL"


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """A viewer's request to watch an owner or a view.

    Args:
        sink: the socket that frames are sent to.
        viewer: whatever the `audience` of the kind or view takes: a user's id, an object with a `user_id`, or what
            users have in common.
        channel: the channel's name on the wire.
        envelope: how frames look on this sort of stream; only viewers with the same one share bytes.
        mode: `snapshot` = the newest whole state after each turn that changes it; `delta` = one event each.
        opened: called synchronously, before the first frame is offered, with epoch, offset and whether missed events
            follow in place of a snapshot.
        since: epoch and offset that the client has, to be replayed from; None for a fresh start.
    """

    sink: Sink
    viewer: Any
    channel: str
    envelope: Envelope
    mode: Literal["snapshot", "delta"]
    opened: Callable[[str, int, bool], None]
    since: tuple[str, int] | None = None


class Owner(Protocol):
    """The actor or live view that a channel belongs to."""

    def unwatched(self) -> None:
        """Called when the last subscriber has left."""
        ...


class Common(Protocol):
    """What all channels of a system share."""

    @property
    def counters(self) -> Counters:
        """Totals since the start of the system, for the metrics."""
        ...

    @property
    def start(self) -> Callable[..., None]:
        """Starts a task that outlives the caller."""
        ...


class Watched(Protocol):
    """What a subscription, and whoever serves it, needs of its channel."""

    @property
    def shown(self) -> Shown:
        """The kind or view."""
        ...

    @property
    def id(self) -> str:
        """The id of the owner or view."""
        ...

    @property
    def live(self) -> bool:
        """True while there is a state."""
        ...

    @property
    def unplaced(self) -> int:
        """How many turns may have moved everybody's audience, and still have it to be computed: nobody is sent anything
        of them before."""
        ...

    @property
    def published(self) -> int:
        """The number of the last publication."""
        ...

    @property
    def reframings(self) -> int:
        """How many events that change the snapshot have been published."""
        ...

    def holds(self, subscription: "Subscription", /) -> bool:
        """True while the subscription has been neither closed nor ended."""
        ...

    def leave(self, subscription: "Subscription", /) -> None:
        """Remove the subscription."""
        ...

    def place(self, subscription: "Subscription", /) -> bool:
        """Compute the audience of the subscription again; True when it has changed."""
        ...

    def reframings_before(self, at: int, /) -> int:
        """Return how many reframing events there were before the first one after publication `at`."""
        ...


class Subscription:
    """One viewer's subscription. Made by `System.watch`; closed by its socket, or ended when the viewer loses access.

    Attributes:
        at: the number of the last publication it has had; from `LAGGING` on it is out of the walk.
        index: its place in the list of its channel, which alone changes it; `OUTSIDE` once it was closed or ended.
    """

    __slots__ = ("at", "group", "index", "sink", "viewer")

    def __init__(self, group: Group, sink: Sink, viewer: Any) -> None:
        self.group = group
        self.sink = sink
        self.viewer = viewer
        self.at = LAGGING
        self.index = OUTSIDE

    @property
    def channel(self) -> Watched:
        """The channel that it belongs to."""
        return cast("Watched", self.group.channel)

    @property
    def user_id(self) -> str | None:
        """The id of the user who watches; None where the viewer is no user."""
        viewer = self.viewer
        return viewer if isinstance(viewer, str) else getattr(viewer, "user_id", None)

    @property
    def is_lagging(self) -> bool:
        """True while it is out of the walk: not shown anything yet, or not since its socket was full, or closed."""
        return self.at >= LAGGING

    @property
    def audience(self) -> Hashable:
        """The audience whose bytes it receives."""
        return self.group.key.audience

    @property
    def wire_name(self) -> str:
        """The channel's name on the wire: one object for all subscriptions of a group."""
        return self.group.key.wire_name

    def close(self) -> None:
        """Receive nothing more. Idempotent, and allowed from within an `offer`."""
        self.at = LAGGING
        self.channel.leave(self)

    def recheck(self) -> None:
        """Compute the audience again, because the viewer's rights have changed; a refusal ends the subscription."""
        channel = self.channel
        if channel.holds(self) and channel.place(self):
            self.lag(channel.reframings_before(self.at))
            self.catch_up()

    def end(self, code: str) -> None:
        """Close the subscription from our side and send the client `code` as the reason."""
        if self.channel.holds(self):
            self.close()
            self.sink.end(self.wire_name, code)

    def lag(self, missed_from: int) -> None:
        """Leave the walk until the socket has room; then one snapshot is sent in place of everything missed.

        Args:
            missed_from: how many reframing events there were before the first one missed.
        """
        if not self.is_lagging:
            self.at = LAGGING + missed_from

    def catch_up(self) -> None:
        """Offer the newest snapshot and join the walk again; called by the sink once it has room.

        A sink that is clear takes anything. While the actor has no state (it is loading again) nothing is offered;
        the channel calls this when the state is there.
        """
        channel = self.channel
        if not self.is_lagging or not channel.holds(self) or not channel.live:
            return
        if not self.sink.clear:
            self.sink.notify_when_writable(self)
            return
        with Contained("catching up", channel.shown.name, channel.id) as catching_up:
            if channel.unplaced:
                channel.place(self)
            if channel.holds(self):
                self.sink.offer(self.group.snapshot(channel.reframings - (self.at - LAGGING)))
                self.at = channel.published
        if catching_up.fault is not None:
            self.end(INTERNAL)
