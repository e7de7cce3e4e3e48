"""permessage-deflate (RFC 7692), as far as it pays: no context is taken over, by either side.

A context kept between messages costs 44 KB and more a socket, and makes every socket's bytes its own. Without one a
message is compressed once and sent to all (`websocket/deflated.py`), and an idle socket costs nothing. Messages of 2 KB
and less go out as they are: compressing them costs more than it saves.
"""

import zlib
from collections.abc import Iterator

from routes.edge.websocket.frame_reader import BAD_DATA, TOO_BIG, FrameError

MIN_BYTES = 2048
"""Smaller messages are not compressed."""

AGREED = b"permessage-deflate; server_no_context_takeover; client_no_context_takeover"
"""What we answer to an offer that we take."""

_NAME = "permessage-deflate"
_TAIL = b"\x00\x00\xff\xff"  # §7.2.1: cut off by the sender, put back by the receiver
_RAW = -zlib.MAX_WBITS


def negotiate(offered: bytes) -> bytes | None:
    """The answer to a client's offers, or None when none of them can be taken (§5.1).

    An offer that limits our window is passed over: one compressed frame has to do for every socket.

    Args:
        offered: `Sec-WebSocket-Extensions`, its lines joined by commas.
    """
    return AGREED if any(_is_taken(offer) for offer in _offers(offered)) else None


def _offers(offered: bytes) -> Iterator[list[str]]:
    for element in offered.decode("latin-1").split(","):
        name, *parameters = (part.strip() for part in element.split(";"))
        if name.lower() == _NAME:
            yield [parameter.lower() for parameter in parameters]


def _is_taken(parameters: list[str]) -> bool:
    names = [parameter.partition("=")[0].strip() for parameter in parameters]
    return len(set(names)) == len(names) and all(map(_is_understood, parameters))  # §7.1: none twice


def _is_understood(parameter: str) -> bool:
    name, equals, text = (part.strip() for part in parameter.partition("="))
    text = text.strip('"')
    match name:
        case "server_no_context_takeover" | "client_no_context_takeover":
            return not equals
        case "client_max_window_bits":
            # A client may make its window smaller; ours, for reading, is the largest.
            return not equals or text in {"8", "9", "10", "11", "12", "13", "14", "15"}
        case "server_max_window_bits":
            return text == "15"
        case _:
            return False


class Inflater:
    """Reads compressed messages; keeps nothing between them, so that one serves every socket."""

    __slots__ = ()

    def inflate(self, payload: bytes, max_bytes: int) -> bytes:
        """The message (§7.2.2); never more than one byte above the bound is made of it.

        Args:
            payload: of all frames of the message.
            max_bytes: of the message.

        Raises:
            FrameError: it is broken, or too large.
        """
        inflating = zlib.decompressobj(_RAW)
        try:
            message = inflating.decompress(payload + _TAIL, max_bytes + 1)
        except zlib.error:
            raise FrameError(BAD_DATA, "the message cannot be inflated") from None
        if len(message) > max_bytes:
            raise FrameError(TOO_BIG, "the message is too big")
        return message


def compress(message: bytes) -> bytes:
    """The message as a compressed payload (§7.2.1).

    Args:
        message: not empty.
    """
    deflating = zlib.compressobj(wbits=_RAW)
    return (deflating.compress(message) + deflating.flush(zlib.Z_SYNC_FLUSH)).removesuffix(_TAIL)
