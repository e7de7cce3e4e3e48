"""permessage-deflate (RFC 7692) without context takeover on either side.

A context kept between messages costs 44 KB and more per socket, and makes the compressed bytes differ between
sockets. Without it a message is compressed once and sent to all (`websocket/packed.py`), and an idle socket costs
nothing. Messages of 2 KB and less are sent uncompressed: compressing them costs more than it saves.
"""

import zlib
from collections.abc import Iterator

from routes.edge.websocket.frame_reader import BAD_DATA, TOO_BIG, FrameError

MIN_BYTES = 2048
"""Messages up to this size are not compressed."""

AGREED = b"permessage-deflate; server_no_context_takeover; client_no_context_takeover"
"""The answer to an offer that is accepted."""

LIMITED = b"; server_max_window_bits=15"
"""Added to the answer to an offer that limits the server's window to the largest that there is (§7.1.2.1)."""

_NAME = "permessage-deflate"
_TAIL = b"\x00\x00\xff\xff"  # §7.2.1: cut off by the sender, put back by the receiver
_RAW = -zlib.MAX_WBITS


def negotiate(offered: bytes) -> bytes | None:
    """The answer to a client's offers, or None when none can be accepted (§5.1).

    An offer that makes the server's window smaller is skipped, because one compressed frame has to suit every socket.

    Args:
        offered: `Sec-WebSocket-Extensions`, its lines joined by commas.
    """
    for offer in _offers(offered):
        if _is_taken(offer):
            is_limited = any(_name_of(parameter) == "server_max_window_bits" for parameter in offer)
            return AGREED + LIMITED if is_limited else AGREED
    return None


def _offers(offered: bytes) -> Iterator[list[str]]:
    for element in offered.decode("latin-1").split(","):
        name, *parameters = (part.strip() for part in element.split(";"))
        if name.lower() == _NAME:
            yield [parameter.lower() for parameter in parameters]


def _name_of(parameter: str) -> str:
    return parameter.partition("=")[0].strip()


def _is_taken(parameters: list[str]) -> bool:
    names = list(map(_name_of, parameters))
    return len(set(names)) == len(names) and all(map(_is_understood, parameters))  # §7.1: none twice


def _is_understood(parameter: str) -> bool:
    name, equals, text = (part.strip() for part in parameter.partition("="))
    text = text.strip('"')
    match name:
        case "server_no_context_takeover" | "client_no_context_takeover":
            return not equals
        case "client_max_window_bits":
            # A client may compress with a smaller window; the largest one decompresses any.
            return not equals or text in {"8", "9", "10", "11", "12", "13", "14", "15"}
        case "server_max_window_bits":
            return text == "15"
        case _:
            return False


class Inflater:
    """Decompresses messages; keeps no state, so that one instance serves every socket."""

    __slots__ = ()

    def inflate(self, payload: bytes, max_bytes: int) -> bytes:
        """Decompress a message (§7.2.2), never to more than one byte above the bound.

        Args:
            payload: the payloads of all frames of the message, joined.
            max_bytes: the most bytes of the decompressed message.

        Raises:
            FrameError: the data is malformed, or the message too large.
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
    """Compress a message to the payload of its frame (§7.2.1).

    Args:
        message: the message, not empty.
    """
    deflating = zlib.compressobj(wbits=_RAW)
    return (deflating.compress(message) + deflating.flush(zlib.Z_SYNC_FLUSH)).removesuffix(_TAIL)
