"""Groups the subscribers that receive the same bytes, so that a message is encoded once for all of them.

The key is every property that changes the bytes. A publication is encoded for a group when the walk first meets one
of its members, and its bytes are dropped with the publication; several that a member has not had are joined, so that
it is sent to once. Groups that differ only in what their snapshots show share the bytes of events
(`Rendering.event_key`). There are more groups than users, and most are idle: between publications a group holds its
key and nothing else.
"""

from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from actors.kernel.facets import Delta, Forgotten, Rendering
from actors.kernel.replay_buffer import REPLAY_BYTES
from actors.kernel.sink import Envelope, Prepared
from actors.kernel.supervisor import attempt

# Compared by identity. NOTHING: encoded, and there is nothing to send. BROKEN: could not be encoded. TOO_LARGE: several
# events have more than `REPLAY_BYTES`, and were not encoded any further.
NOTHING = Prepared((), b"")
BROKEN = Prepared((), b"")
TOO_LARGE = Prepared((), b"")

NEWEST = -1
"""Below the number of every publication."""

SHARED_KEYS = 32
"""How many of the latest keys are kept to be shared; each view has one for each mode (snapshots, events)."""


class Shown(Protocol):
    """What a channel needs of a kind or a view."""

    @property
    def name(self) -> str:
        """The unique name of the kind or view."""
        ...

    @property
    def rendering(self) -> Rendering[Any]:
        """How subscribers see the kind or view."""
        ...


class Publication:
    """What one turn has to say to the subscribers of a channel.

    Args:
        number: counts the channel's publications from 1.
        state: the state after the turn.
        events: (offset, event) in order; the offset is None outside the journal.
        reframings_before: how many reframing events (they change the snapshot) the channel had published before it.
        reframes: at least one of its events changes the snapshot.
        whole: what happened before is unknown (the actor was loaded again), so all subscribers take a snapshot.
    """

    __slots__ = ("encoded", "events", "number", "reframes", "reframings_before", "state", "whole")

    def __init__(
        self,
        number: int,
        state: Any,
        events: list[tuple[int | None, Any]],
        *,
        reframings_before: int,
        reframes: bool,
        whole: bool = False,
    ) -> None:
        self.number = number
        self.state = state
        self.events = events
        self.reframings_before = reframings_before
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
        """The id of the owner or view."""
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
        """The offset of the last event in `state`."""
        ...

    @property
    def groups(self) -> int:
        """How many groups the subscribers form."""
        ...

    def unheard(self, at: int, /) -> list[Publication]:
        """The publications after number `at`, oldest first."""
        ...

    def offer_to(self, user_id: str, group: "Group", prepared: Prepared, /) -> None:
        """Offer to those members of the group that belong to one user."""
        ...


class GroupKey(NamedTuple):
    """Everything in which the bytes of two subscribers can differ.

    Args:
        wire_name: the channel's name on the wire.
        envelope: how frames are encoded.
        delta: True for events, False for snapshots.
        audience: the viewer's audience, as the rendering of the kind or view says.
    """

    wire_name: str
    envelope: Envelope
    delta: bool
    audience: Hashable


def group_key(wire_name: str, envelope: Envelope, delta: bool, audience: Hashable) -> GroupKey:
    """Make a key; one that thousands of channels have in common is kept once in memory.

    Args:
        wire_name, envelope, delta, audience: the fields of `GroupKey`.
    """
    if audience is None:
        return _shared_key(wire_name, envelope, delta)
    return GroupKey(wire_name, envelope, delta, audience)


@lru_cache(SHARED_KEYS)
def _shared_key(wire_name: str, envelope: Envelope, delta: bool) -> GroupKey:
    return GroupKey(wire_name, envelope, delta, None)


class Group:
    """Subscribers of one channel that receive the same bytes.

    Args:
        channel: the channel that they subscribe to.
        key: the properties that they have in common.

    Attributes:
        size: how many members there are.
    """

    __slots__ = ("_ready", "channel", "key", "size")

    def __init__(self, channel: Source, key: GroupKey) -> None:
        self.channel = channel
        self.key = key
        self.size = 0
        # {at: what a member that has had publication `at` has not had; NEWEST: the snapshot}
        self._ready: dict[int, Prepared] | None = None

    def prepare(self, at: int) -> Prepared:
        """Return the publications that a member has not had, joined; NOTHING if there are none to send, BROKEN if they
        cannot be encoded.

        A fault of `render` or `render_event` occurs, and is logged, once for all members.

        Args:
            at: the number of the last publication that the member has had.
        """
        channel, ready = self.channel, self._ready
        if ready is None:
            ready = self._ready = {}
        elif at in ready:
            return ready[at]
        ready[at] = BROKEN
        attempt("encoding", channel.shown.name, channel.id, self._make, at, ready)
        return ready[at]

    def forget(self) -> None:
        """Drop encoded bytes, because all members have had them, or something new has been published."""
        self._ready = None

    def snapshot(self, skipped: int) -> Prepared:
        """Encode the newest snapshot; `skipped` is how many reframing events were not sent before it."""
        channel = self.channel
        wire_name, envelope, _, audience = self.key
        data = channel.shown.rendering.render(channel.state, audience)
        return envelope.snapshot(wire_name, channel.epoch, channel.offset, skipped, data)

    def event(self, offset: int | None, delta: Delta) -> Prepared:
        """Encode one event in this group's envelope; the offset is None outside the journal."""
        key = self.key
        return key.envelope.event(
            key.wire_name, self.channel.epoch, offset, delta.event, delta.data, self_=delta.self_
        )

    def replay(self, state: Any, events: Iterable[tuple[int | None, Any]]) -> Prepared | None:
        """Encode the given events as members see them now, joined; NOTHING when none of them is shown to them.

        Args:
            state: the newest committed state, from which they are rendered.
            events: (offset, event) in order.

        Returns: None, so that a snapshot is sent instead, when one is `Forgotten`, or when they have more than
            `REPLAY_BYTES`; those beyond are not rendered.
        """
        try:
            replayed = self._replay(state, events)[0]
        except Forgotten:
            return None
        return None if replayed is TOO_LARGE or replayed.size > REPLAY_BYTES else replayed

    def _replay(self, state: Any, events: Iterable[tuple[int | None, Any]]) -> tuple[Prepared, bool]:
        """The events, joined, or TOO_LARGE; and whether some event was for members of one user only."""
        parts: list[Prepared] = []
        taken_bytes = 0
        render_event = self.channel.shown.rendering.render_event
        audience, to_one = self.key.audience, False
        for offset, event in events:
            delta = render_event(state, event, audience)
            if delta is None:
                continue
            prepared = self.event(offset, delta)
            if delta.to is None:
                parts.append(prepared)
                taken_bytes += prepared.size
                if taken_bytes > REPLAY_BYTES and len(parts) > 1:
                    return TOO_LARGE, to_one
            else:
                to_one = True
                self.channel.offer_to(delta.to, self, prepared)
        return _joined(parts), to_one

    def _make(self, at: int, ready: dict[int, Prepared]) -> None:
        newest = False
        parts: list[Prepared] = []
        taken_bytes = 0
        try:
            for publication in self.channel.unheard(at):
                if publication.whole:
                    newest = True
                elif not self.key.delta:
                    newest = publication.reframes
                elif (part := self._encoded(publication)) is not NOTHING:
                    parts.append(part)
                    taken_bytes += part.size
                    newest = part is TOO_LARGE or (len(parts) > 1 and taken_bytes > REPLAY_BYTES)
                if newest:
                    break
        except Forgotten:
            newest = True
        ready[at] = self._newest(ready) if newest else _joined(parts)

    def _encoded(self, publication: Publication) -> Prepared:
        encoded, event_key = publication.encoded, self.channel.shown.rendering.event_key
        if encoded is None:
            encoded = publication.encoded = {}
        elif (prepared := encoded.get(self)) is not None:
            return prepared
        common: object = None
        if event_key is not None and self.channel.groups > 1:
            wire_name, envelope, _, audience = self.key
            parts = tuple([event_key(event, audience) for _, event in publication.events])
            common = (wire_name, envelope, parts)
            if (prepared := encoded.get(common)) is not None:
                return prepared
        prepared, to_one = self._replay(publication.state, publication.events)
        encoded[self if common is None or to_one else common] = prepared
        return prepared

    def _newest(self, ready: dict[int, Prepared]) -> Prepared:
        found = ready.get(NEWEST)
        if found is None:
            found = ready[NEWEST] = self.snapshot(0)
        return found


def _joined(parts: list[Prepared]) -> Prepared:
    if not parts:
        return NOTHING
    return parts[0] if len(parts) == 1 else Prepared.join(parts)
