"""A live socket whose client takes compressed messages: what is large is compressed once, for all of them."""

from actors.kernel.sink import Prepared
from routes.edge.websocket import frames
from routes.edge.websocket.deflate import MIN_BYTES, compress
from routes.edge.websocket.direct import DirectSocket
from routes.edge.websocket.frame_reader import TEXT

COMPRESSED = 0x40
"""RSV1 of a frame's first byte: the message is compressed (RFC 7692 §6)."""


class DeflatedSocket(DirectSocket):
    """A `DirectSocket` on which permessage-deflate was agreed; arguments as there."""

    __slots__ = ()

    def offer(self, prepared: Prepared) -> bool:
        """Send if the socket is clear; False if it is not, and the caller has to catch up later (`Sink`)."""
        return super().offer(deflated(prepared))

    def hold(self, prepared: Prepared) -> None:
        """Keep a reply until `release`, so that it leaves together with the frames of its turn."""
        super().hold(deflated(prepared))

    def _append(self, prepared: Prepared) -> None:
        super()._append(deflated(prepared))


class Packed(Prepared):
    """Messages that were compressed where it pays; arguments as for `Prepared`."""

    __slots__ = ()


def deflated(prepared: Prepared) -> Prepared:
    """Messages of which those above `MIN_BYTES` are compressed: once for each `Prepared`, which remembers it.

    Args:
        prepared: by whoever publishes.
    """
    if prepared.twin is not None:
        return prepared.twin
    # What was packed, and what is small, is its own twin; to say so in it would be a cycle, for the collector to find.
    if type(prepared) is Packed or not any(len(payload) > MIN_BYTES for payload in prepared.payloads):
        return prepared
    twin = prepared.twin = Packed(prepared.payloads, b"".join(map(_frame, prepared.payloads)))
    return twin


def _frame(payload: bytes) -> bytes:
    if len(payload) > MIN_BYTES:
        packed = compress(payload)
        if len(packed) < len(payload):
            return frames.header(COMPRESSED | TEXT, len(packed)) + packed
    return frames.header(TEXT, len(payload)) + payload
