"""How much work the frames of an HTTP/2 client cause, judged by their headers before any is parsed.

A frame of nine bytes costs as much time as one of 16 KiB: a read of 64 KiB may be 7,000 frames, and a quarter of a
second in which nobody else is served. So they are handled a few at a time, and those that neither ask nor bring
anything are counted, as RFC 9113 §10.5 recommends.
"""

from collections.abc import Iterator

from actors.kernel.clock import Clock
from routes.edge.limits import Meter

AT_ONCE = 32
"""Frames that are handled before others get their turn; a head counts once more for each 64 bytes, which may be as many
fields. Of ordinary requests and uploads fewer come in a read."""

FRAMES_A_KIB = 2
"""A client may send so many more frames for each KiB that it was sent: it opens both its windows as it takes them."""

FRAMES_A_RESPONSE = 2
"""A client may send so many more for each response that it took whole, such as priorities."""

_HEAD_BYTES = 9
_PREFACE_BYTES = 24
_HEADER_BYTES = 64
_SMALL_BYTES = 16
"""Of a part of a body: a shorter one brings less than it costs."""

_DATA, _HEADERS, _CONTINUATION = 0x0, 0x1, 0x9
_END_STREAM = 0x1


class Frames:
    """Cuts what comes into pieces of few frames, and counts the idle ones: all but heads and bodies of requests.

    Attributes:
        idle: those that have begun since the caller last set this to 0.
    """

    __slots__ = ("_head", "_skip", "idle")

    def __init__(self) -> None:
        self.idle = 0
        self._skip = _PREFACE_BYTES
        self._head = b""

    def cut(self, data: bytes) -> Iterator[bytes]:
        """The same bytes, in pieces that end with the head of the frame that makes them `AT_ONCE`."""
        start = at = weight = 0
        while at < len(data):
            if self._skip:
                step = min(self._skip, len(data) - at)
                self._skip -= step
                at += step
                continue
            part = data[at : at + _HEAD_BYTES - len(self._head)]
            self._head += part
            at += len(part)
            if len(self._head) < _HEAD_BYTES:
                break
            weight += self._begin(self._head)
            self._head = b""
            if weight >= AT_ONCE:
                yield data[start:at]
                start, weight = at, 0
        if start < len(data):
            yield data[start:]

    def _begin(self, head: bytes) -> int:
        """Count a frame; returns for how many it counts before others get their turn."""
        self._skip, kind, flags = int.from_bytes(head[:3], "big"), head[3], head[4]
        if kind in {_HEADERS, _CONTINUATION}:
            return 1 + self._skip // _HEADER_BYTES
        if kind != _DATA or (self._skip < _SMALL_BYTES and not flags & _END_STREAM):
            self.idle += 1
        return 1


class Allowance:
    """How many idle frames a client may send: so many a minute, and more for what it was answered.

    Args:
        meter: of those a minute.
        clock: of the meter.
    """

    def __init__(self, meter: Meter, clock: Clock) -> None:
        self._meter = meter
        self._clock = clock
        self._sent_bytes = 0
        self._earned = 0

    def sent(self, count: int) -> None:
        """The client was sent so many bytes of responses."""
        kib, self._sent_bytes = divmod(self._sent_bytes + count, 1024)
        self._earned += kib * FRAMES_A_KIB

    def answered(self) -> None:
        """The client was sent a whole response."""
        self._earned += FRAMES_A_RESPONSE

    def take(self, idle: int) -> bool:
        """Count idle frames; False when they are too many."""
        paid = min(idle, self._earned)
        self._earned -= paid
        return idle == paid or not self._meter.take(self._clock.now_ms(), idle - paid)
