"""The fan-out's interfaces to sockets and to encoded messages, so that it depends on no WebSocket, HTTP or JSON.

The edge implements `Sink` (`routes/edge/websocket/socket.py`) and `Envelope` (`routes/edge/websocket/frames.py`).
"""

from collections.abc import Iterable
from typing import Protocol


class Prepared:
    """One or more messages, encoded once, ready for any number of sockets.

    Args:
        payloads: the messages themselves.
        wire: the same with their WebSocket headers, joined: what goes to a socket in one `send`.

    Attributes:
        twin: the same messages compressed; made for the first socket that wants them compressed.
    """

    __slots__ = ("payloads", "twin", "wire")

    def __init__(self, payloads: tuple[bytes, ...], wire: bytes) -> None:
        self.payloads = payloads
        self.wire = wire
        self.twin: Prepared | None = None

    @property
    def size(self) -> int:
        """Bytes of the messages in all, without headers."""
        return sum(map(len, self.payloads))

    @classmethod
    def join(cls, parts: Iterable["Prepared"]) -> "Prepared":
        """Join the messages of all parts, in order, into one."""
        several = tuple(parts)
        return cls(
            tuple(payload for part in several for payload in part.payloads),
            b"".join(part.wire for part in several),
        )


class Lagging(Protocol):
    """A subscription that could not be served because its socket was full."""

    def catch_up(self) -> None:
        """Called by the sink, synchronously, once it has room again; offers the newest state."""
        ...


class Sink(Protocol):
    """One socket, as the fan-out sees it. Nothing here waits; all of it is called in the trio thread."""

    @property
    def clear(self) -> bool:
        """True while nothing waits in user space for the socket to take it."""
        ...

    def offer(self, prepared: Prepared) -> bool:
        """Send, or queue behind earlier messages; False when the queue's bound (64 messages, 256 KiB) forbids it.

        While the sink is `clear` it takes anything, whatever its size.
        """
        ...

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Call `lagging.catch_up` once the socket has taken all that is queued; each is called once, in order."""
        ...

    def end(self, channel: str, code: str) -> None:
        """Tell the client that a subscription has ended.

        Args:
            channel: the channel's name on the wire.
            code: the reason: a refusal's code, or `INTERNAL`.
        """
        ...


class Envelope(Protocol):
    """How snapshots and events of a channel are encoded for one sort of stream; called once per audience."""

    def __hash__(self) -> int:
        """Encoded bytes are kept by envelope, so envelopes that encode alike are one object."""
        ...

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:
        """Encode a snapshot.

        Args:
            channel: the channel's name on the wire.
            epoch, offset: the epoch, and the offset of the last event that is in the snapshot.
            skipped: how many events were not sent before the snapshot.
            data: the snapshot, a struct or `msgspec.Raw`.
        """
        ...

    def event(
        self, channel: str, epoch: str, offset: int | None, name: str, data: object, *, self_: object | None
    ) -> Prepared:
        """Encode one event.

        Args:
            channel: the channel's name on the wire.
            epoch, offset: those of the event; the offset is None outside the journal (`typing`, `read`, `presence`).
            name: the event's name on the wire.
            data: the event's content, a struct or `msgspec.Raw`.
            self_: what concerns this audience alone; None when nothing does.
        """
        ...
