"""What the fan-out knows of a socket, and of the bytes it sends: nothing of WebSocket, HTTP or JSON.

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
        twin: the same messages for sockets that take another wire, once one of them has asked for it.
    """

    __slots__ = ("payloads", "twin", "wire")

    def __init__(self, payloads: tuple[bytes, ...], wire: bytes) -> None:
        self.payloads = payloads
        self.wire = wire
        self.twin: Prepared | None = None

    @property
    def size(self) -> int:
        """Bytes of the messages, in all."""
        return sum(map(len, self.payloads))

    @classmethod
    def join(cls, parts: Iterable["Prepared"]) -> "Prepared":
        """The messages of all parts, in order, as one."""
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
        """Write, or queue behind what waits already; False when the bound (64 messages, 256 KiB) forbids it.

        While it is `clear` it takes anything, whatever its size."""
        ...

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Remember who is to catch up, in order, each once, when the socket has taken what waits."""
        ...

    def end(self, channel: str, code: str) -> None:
        """Tell the client that this subscription has ended, and why: a refusal's code, or `INTERNAL`.

        Args:
            channel: its name on the wire.
            code: a refusal's code, or `INTERNAL`.
        """
        ...


class Envelope(Protocol):
    """How snapshots and events of a channel look on one sort of stream; encodes, once per audience."""

    def snapshot(self, channel: str, epoch: str, offset: int, skipped: int, data: object) -> Prepared:
        """A snapshot that includes every event up to `offset`; `skipped` events were not sent before it.

        Args:
            channel: its name on the wire.
            data: a struct or `msgspec.Raw`.
        """
        ...

    def event(
        self, channel: str, epoch: str, offset: int | None, name: str, data: object, *, self_: object | None
    ) -> Prepared:
        """One event; `offset` is None for those outside the journal (`typing`, `read`, `presence`).

        Args:
            channel: its name on the wire.
            name: of the event on the wire.
            data: a struct or `msgspec.Raw`.
        """
        ...
