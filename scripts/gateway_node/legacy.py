"""Pings of clients from before Minecraft 1.7, and the gateway's answer to those that name no host.

They begin with 0xFE, as a handshake of 254 bytes may, and have no length: Beta 1.8 to 1.3 send that byte and wait, 1.4
and 1.5 one more, 1.6 goes on with a message `MC|PingHost`, which some programs leave out but for its first byte. So
the earlier ones are known by the silence after them.
"""

from scripts.gateway_node.hosts import clean_host
from scripts.gateway_node.pieces import Malformed, Opening, Pieces, Short

FIRST = b"\xfe"

MAX_BYTES = 1024

_CHANNEL = "MC|PingHost".encode("utf-16-be")
_TEXT = "This address needs Minecraft 1.7 or newer"
_NO_VERSION = 127  # that no client has, so that each shows the text beside it


def is_handshake(data: bytes | bytearray) -> bool | None:
    """Whether what begins with 0xFE is a handshake; None while it could be both."""
    if len(data) < 2 or (data[1] == 1 and len(data) < 3):
        return None
    return data[1] != 1 or data[2] == 0


def read_legacy(data: bytes | bytearray, *, is_silent: bool) -> Opening | None:
    """The opening of the ping that these bytes are; None while more of it may follow.

    Args:
        is_silent: nothing has followed for a while.

    Raises:
        Malformed: the bytes are no such ping.
    """
    if len(data) > 2 and data[2] != 0xFA:
        raise Malformed("no ping")
    pieces = Pieces(data)
    try:
        pieces.take(3)
        size = pieces.number(2)
        if size * 2 != len(_CHANNEL) or pieces.take(size * 2) != _CHANNEL:
            raise Malformed("another message")
        size = pieces.number(2)
        if size > MAX_BYTES - pieces.at:
            raise Malformed("too long")
        message = Pieces(pieces.take(size))
    except Short:
        return Opening("legacy", None) if is_silent else None
    try:
        message.take(1)  # the version of the protocol
        host = message.take(message.number(2) * 2).decode("utf-16-be")
        message.take(4)  # the port
    except (Short, UnicodeDecodeError):
        raise Malformed("shorter than it says, or no text") from None
    return Opening("legacy", clean_host(host))


def answer(data: bytes | bytearray) -> bytes:
    """The answer to a ping without a host, in the form that its client reads: a refusal with a text.

    Args:
        data: the bytes of the ping.
    """
    parts = ("§1", str(_NO_VERSION), "1.7+", _TEXT, "0", "0")
    text = "\0".join(parts) if len(data) > 1 else f"{_TEXT}§0§0"
    return b"\xff" + len(text).to_bytes(2, "big") + text.encode("utf-16-be")
