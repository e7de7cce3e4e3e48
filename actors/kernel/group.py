"""Encoding once: subscribers that receive the same bytes form a group.

The key is every property that changes the bytes. A publication is encoded for a group when the walk first
meets one of its members, and forgotten with the publication; publications that a member has not had are joined,
so that it is sent to once. Groups that differ only in what their snapshots show share the bytes of events
(`Rendering.event_key`). There are more groups than users, and most are idle: between publications a group
holds its key and nothing else.
"""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple, Protocol

from actors.kernel.facets import Delta, Rendering
from actors.kernel.replay_buffer import REPLAY_BYTES
from actors.kernel.sink import Envelope, Prepared
from actors.kernel.supervisor import attempt

# Compared by identity. NOTHING: encoded, and there is nothing to send. BROKEN: could not be encoded.
NOTHING = Prepared((), b"")
BROKEN = Prepared((), b"")


class Shown(Protocol):
    """What a channel needs of a `Kind` or a `View`."""

    @property
    def name(self) -> str:
        """The name of the kind or view; no other has it."""
        ...

    @property
    def rendering(self) -> Rendering[Any]:
        """How subscribers see it."""
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
        # {group, or what several have in common: the bytes}; made with the first
        self.encoded: dict[object, Prepared] | None = None


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

    @property
    def groups(self) -> int:
        """How many groups there are."""
        ...

    def unheard(self, at: int, /) -> list[Publication]:
        """The publications after number `at`, oldest first."""
        ...

    def offer_to(self, user_id: str, group: "Group", prepared: Prepared, /) -> None:
        """Offer to the members of one user only."""
        ...


class GroupKey(NamedTuple):
    """Everything that changes the bytes.

    Args:
        wire_name: the channel's name on the wire.
        envelope: how frames look.
        delta: events, not snapshots.
        audience: as the kind or view says.
    """

    wire_name: str
    envelope: Envelope
    delta: bool
    audience: Hashable


class Group:
    """Subscribers of one channel that receive the same bytes.

    Args:
        channel: theirs.
        key: what they have in common.

    Attributes:
        size: how many they are.
    """

    __slots__ = ("_channel", "_ready", "_ready_for", "_snapshot", "key", "size")

    def __init__(self, channel: Source, key: GroupKey) -> None:
        self._channel = channel
        self.key = key
        self.size = 0
        # {at: what a member that stands there has not had}, valid for publication number `_ready_for`
        self._ready: dict[int, Prepared] | None = None
        self._ready_for = 0
        self._snapshot: Prepared | None = None

    def prepare(self, at: int) -> Prepared:
        """Everything that a member has not had, as one; NOTHING to send, or BROKEN.

        A fault of `render` or `render_event` is met, and logged, once for all members.
        """
        channel = self._channel
        if self._ready_for != channel.published:
            self._ready_for = channel.published
            self._ready = self._snapshot = None
        if self._ready is None:
            self._ready = {}
        elif at in self._ready:
            return self._ready[at]
        self._ready[at] = BROKEN
        attempt("encoding", channel.shown.name, channel.id, self._make, at, self._ready)
        return self._ready[at]

    def forget(self) -> None:
        """Let go of encoded bytes; they are made again if they should be needed."""
        self._ready = self._snapshot = None

    def snapshot(self, skipped: int) -> Prepared:
        """The newest snapshot, on its own."""
        channel = self._channel
        wire_name, envelope, _, audience = self.key
        data = channel.shown.rendering.render(channel.state, audience)
        return envelope.snapshot(wire_name, channel.epoch, channel.offset, skipped, data)

    def event(self, offset: int | None, delta: Delta) -> Prepared:
        """One event in this group's envelope."""
        key = self.key
        return key.envelope.event(
            key.wire_name, self._channel.epoch, offset, delta.event, delta.data, self_=delta.self_
        )

    def replay(self, state: Any, events: Iterable[tuple[int | None, Any]]) -> Prepared:
        """The given events as members see them now, as one; NOTHING when none of them is shown to them.

        Args:
            state: the newest committed state, from which they are rendered.
        """
        return self._replay(state, events)[0]

    def _replay(self, state: Any, events: Iterable[tuple[int | None, Any]]) -> tuple[Prepared, bool]:
        """`replay`, and whether some event was for members of one user only."""
        parts: list[Prepared] = []
        render_event = self._channel.shown.rendering.render_event
        audience, to_one = self.key.audience, False
        for offset, event in events:
            delta = render_event(state, event, audience)
            if delta is None:
                continue
            prepared = self.event(offset, delta)
            if delta.to is None:
                parts.append(prepared)
            else:
                to_one = True
                self._channel.offer_to(delta.to, self, prepared)
        return _joined(parts), to_one

    def _make(self, at: int, ready: dict[int, Prepared]) -> None:
        newest = False
        parts: list[Prepared] = []
        for publication in self._channel.unheard(at):
            if publication.whole:
                newest = True
                break
            if not self.key.delta:
                newest = newest or publication.reframes
            elif (part := self._encoded(publication)) is not NOTHING:
                parts.append(part)
        if len(parts) > 1:
            newest = newest or sum(part.size for part in parts) > REPLAY_BYTES
        ready[at] = self._newest() if newest else _joined(parts)

    def _encoded(self, publication: Publication) -> Prepared:
        encoded, event_key = publication.encoded, self._channel.shown.rendering.event_key
        if encoded is None:
            encoded = publication.encoded = {}
        elif (prepared := encoded.get(self)) is not None:
            return prepared
        common: object = None
        if event_key is not None and self._channel.groups > 1:
            wire_name, envelope, _, audience = self.key
            parts = tuple([event_key(event, audience) for _, event in publication.events])
            common = (wire_name, envelope, parts)
            if (prepared := encoded.get(common)) is not None:
                return prepared
        prepared, to_one = self._replay(publication.state, publication.events)
        encoded[self if common is None or to_one else common] = prepared
        return prepared

    def _newest(self) -> Prepared:
        if self._snapshot is None:
            self._snapshot = self.snapshot(0)
        return self._snapshot


def _joined(parts: list[Prepared]) -> Prepared:
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else Prepared.join(parts)
