"""Messages for sockets with permessage-deflate: a large one is compressed once for all of them."""

from actors.kernel.sink import Prepared
from routes.edge.websocket import frames
from routes.edge.websocket.deflate import MIN_BYTES, compress
from routes.edge.websocket.frame_reader import TEXT

COMPRESSED = 0x40
"""RSV1 in a frame's first byte: the message is compressed (RFC 7692 §6)."""


class Packed(Prepared):
    """Messages that are compressed where that saves bytes; takes the arguments of `Prepared`."""

    __slots__ = ()


def packed(prepared: Prepared) -> Prepared:
    """`prepared` with the messages above `MIN_BYTES` compressed; done once per `Prepared`, which keeps the result.

    Args:
        prepared: messages as they were published for all sockets.
    """
    if prepared.twin is not None:
        return prepared.twin
    # Packed and small messages are returned as they are; storing them as their own twin would be a reference cycle.
    if type(prepared) is Packed or not any(len(payload) > MIN_BYTES for payload in prepared.payloads):
        return prepared
    twin = prepared.twin = Packed(prepared.payloads, b"".join(map(_frame, prepared.payloads)))
    return twin


def _frame(payload: bytes) -> bytes:
    if len(payload) > MIN_BYTES:
        smaller = compress(payload)
        if len(smaller) < len(payload):
            return frames.header(COMPRESSED | TEXT, len(smaller)) + smaller
    return frames.header(TEXT, len(payload)) + payload
