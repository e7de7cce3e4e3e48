"""The last events of a channel, in memory, for clients that reconnect soon."""

from typing import Any

# A reconnect takes seconds; what is older comes from the journal in one indexed read. Every watched channel
# holds this many, so the number is memory (about 0.5 KB each, most of it shared with the state).
BUFFER_EVENTS = 128

# Most encoded bytes of those events. The oldest are dropped earlier if need be; a single larger event is not held.
BUFFER_BYTES = 256 * 1024

# Most bytes of missed events that are sent one by one; beyond it a snapshot is smaller.
REPLAY_BYTES = 1024 * 1024


class ReplayBuffer:
    """The newest events with their offsets, without a gap, up to the channel's offset.

    Args:
        offset: the channel's offset when nothing has been recorded yet.

    Attributes:
        bytes: encoded size of the events held.
    """

    __slots__ = ("_before", "_events", "bytes")

    def __init__(self, offset: int) -> None:
        # A list, although events leave at its front: moving 128 references costs 30 ns, and an empty deque
        # 0.8 KB, for each of thousands of channels in which nothing happens.
        self._events: list[tuple[int, Any, int]] | None = None
        # the offset just before the oldest event held
        self._before = offset
        self.bytes = 0

    def record(self, offset: int, event: Any, size: int = 0) -> None:
        """Add the next event; the oldest ones leave when there are more than 128, or 256 KiB.

        Args:
            offset: the event's offset, one above that of the last event.
            event: the event as the channel published it.
            size: its encoded bytes; 0 for one that only refers to a state that is held anyway.
        """
        if self._events is None:
            self._events = []
        self._events.append((offset, event, size))
        self.bytes += size
        while len(self._events) > BUFFER_EVENTS or self.bytes > BUFFER_BYTES:
            self._before, _, gone = self._events.pop(0)
            self.bytes -= gone

    def newest(self, most: int) -> list[tuple[int, Any]]:
        """Return the newest events as (offset, event), oldest first, at most `most` of them."""
        return [(offset, event) for offset, event, _ in (self._events or ())[-most:]]

    def after(self, offset: int) -> list[tuple[int, Any]] | None:
        """Return all events after an offset as (offset, event), or None when some of them are no longer held."""
        if offset < self._before:
            return None
        return [(at, event) for at, event, _ in self._events or () if at > offset]

    def since(
        self, offset: int, older: list[tuple[int, Any]] | None, *, newest: int
    ) -> list[tuple[int, Any]] | None:
        """Return all events after an offset, or None when some are neither held nor among those read from the journal.

        Args:
            offset: the newest offset that the client has.
            older: the journal's events after that offset, without a gap; None when they were not read.
            newest: the channel's offset.
        """
        held = self.after(offset)
        if held is not None or not older:
            return held
        # The journal was read a moment ago: it may lack the last events, and may hold some not yet published.
        known = [entry for entry in older if entry[0] <= newest]
        newer = self.after(known[-1][0]) if known else None
        return None if newer is None else [*known, *newer]
