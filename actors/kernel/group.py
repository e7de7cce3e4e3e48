"""Encoding once: subscribers that receive the same bytes form a group.

The key is every property that changes the bytes: the channel's name on the wire, the envelope, the mode and
the audience. A publication is encoded for a group when the walk first meets one of its members, and forgotten
with the publication; publications that a member has not had are joined, so that it is sent to once.
"""

from collections.abc import Hashable, Iterable
from typing import Any, Protocol

from actors.kernel.kind import Delta
from actors.kernel.outlet import Envelope, Prepared
from actors.kernel.supervisor import Contained

# Compared by identity. NOTHING: encoded, and there is nothing to send. BROKEN: could not be encoded.
NOTHING = Prepared((), b"")
BROKEN = Prepared((), b"")


class Shown(Protocol):
    """What a channel needs of a `Kind` or a `View`."""

    @property
    def name(self) -> str:
        """Unique."""
        ...

    def audience(self, state: Any, viewer: Any, /) -> Hashable:
        """Who shares bytes; raises Refused."""
        ...

    def frame(self, state: Any, audience: Any, /) -> object:
        """The snapshot."""
        ...

    def delta(self, state: Any, event: Any, audience: Any, /) -> Delta | None:
        """The event."""
        ...


class Publication:
    """What one turn tells the subscribers.

    Args:
        number: counts the channel's publications from 1.
        state: the state after the turn.
        events: (offset, event) in order; the offset is None outside the journal.
        told: how many reframing events the channel had told before this one.
        reframes: some event of it changes the snapshot.
        whole: it tells of an unknown past (the actor was loaded anew), so everybody takes a snapshot.
    """

    __slots__ = ("encoded", "events", "number", "reframes", "state", "told", "whole")

    def __init__(
        self,
        number: int,
        state: Any,
        events: list[tuple[int | None, Any]],
        *,
        told: int,
        reframes: bool,
        whole: bool = False,
    ) -> None:
        self.number = number
        self.state = state
        self.events = events
        self.told = told
        self.reframes = reframes
        self.whole = whole
        self.encoded: dict[Group, Prepared] = {}


class Source(Protocol):
    """What a group needs of its channel."""

    @property
    def shown(self) -> Shown:
        """The kind or view."""
        ...

    @property
    def id(self) -> str:
        """Of the owner or view."""
        ...

    @property
    def state(self) -> Any:
        """The newest committed state."""
        ...

    @property
    def epoch(self) -> str:
        """The name of the history that offsets belong to."""
        ...

    @property
    def offset(self) -> int:
        """Of the last event in `state`."""
        ...

    @property
    def published(self) -> int:
        """The number of the last publication."""
        ...

    def unheard(self, at: int, /) -> list[Publication]:
        """The publications after number `at`, oldest first."""
        ...

    def offer_to(self, user_id: str, group: "Group", prepared: Prepared, /) -> None:
        """Offer to the members of one user only."""
        ...


class Group:
    """Subscribers of one channel that receive the same bytes."""

    __slots__ = (
        "_channel", "_ready", "_ready_for", "_snapshot", "audience", "delta", "envelope", "size", "wire_name",
    )  # fmt: skip

    def __init__(
        self, channel: Source, wire_name: str, envelope: Envelope, *, delta: bool, audience: Hashable
    ) -> None:
        self._channel = channel
        self.wire_name = wire_name
        self.envelope = envelope
        self.delta = delta
        self.audience = audience
        self.size = 0
        # {at: what a member that stands there has not had}, valid for publication number `_ready_for`
        self._ready: dict[int, Prepared] = {}
        self._ready_for = 0
        self._snapshot: Prepared | None = None

    def prepare(self, at: int) -> Prepared:
        """Everything that a member has not had, as one; NOTHING to send, or BROKEN.

        A fault of the kind's `frame` or `delta` is met, and logged, once for all members.
        """
        if self._ready_for != self._channel.published:
            self.forget()
            self._ready_for = self._channel.published
        prepared = self._ready.get(at)
        if prepared is None:
            prepared = BROKEN
            with Contained("encoding", self._channel.shown.name, self._channel.id):
                prepared = self._make(self._channel.unheard(at))
            self._ready[at] = prepared
        return prepared

    def forget(self) -> None:
        """Let go of encoded bytes; they are made again if they should be needed."""
        self._ready.clear()
        self._snapshot = None

    def snapshot(self, skipped: int) -> Prepared:
        """The newest snapshot, on its own."""
        channel = self._channel
        data = channel.shown.frame(channel.state, self.audience)
        return self.envelope.snapshot(self.wire_name, channel.epoch, channel.offset, skipped, data)

    def event(self, offset: int | None, delta: Delta) -> Prepared:
        """One event in this group's envelope."""
        return self.envelope.event(
            self.wire_name, self._channel.epoch, offset, delta.event, delta.data, self_=delta.self_
        )

    def replay(self, state: Any, events: Iterable[tuple[int | None, Any]]) -> Prepared:
        """The given events as members see them now, as one; NOTHING when none of them is shown to them."""
        parts: list[Prepared] = []
        shown = self._channel.shown
        for offset, event in events:
            delta = shown.delta(state, event, self.audience)
            if delta is None:
                continue
            prepared = self.event(offset, delta)
            if delta.to is None:
                parts.append(prepared)
            else:
                self._channel.offer_to(delta.to, self, prepared)
        return _joined(parts)

    def _make(self, unheard: list[Publication]) -> Prepared:
        if any(publication.whole for publication in unheard):
            return self._newest()
        if not self.delta:
            return self._newest() if any(publication.reframes for publication in unheard) else NOTHING
        return _joined([part for part in map(self._encoded, unheard) if part is not NOTHING])

    def _encoded(self, publication: Publication) -> Prepared:
        prepared = publication.encoded.get(self)
        if prepared is None:
            prepared = publication.encoded[self] = self.replay(publication.state, publication.events)
        return prepared

    def _newest(self) -> Prepared:
        if self._snapshot is None:
            self._snapshot = self.snapshot(0)
        return self._snapshot


def _joined(parts: list[Prepared]) -> Prepared:
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else Prepared.join(parts)
