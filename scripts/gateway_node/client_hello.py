"""The name in the first message of a TLS client (RFC 8446 §4.1.2, RFC 6066 §3). Nothing is decrypted."""

from scripts.gateway_node.hosts import clean_host
from scripts.gateway_node.pieces import Malformed, Opening, Pieces, Short

FIRST = b"\x16\x03"
"""How a TLS record with a handshake begins, in all versions since SSL 3. A Minecraft handshake cannot begin so: its
second byte, the kind of its packet, would be that of another one."""

MAX_BYTES = 16 * 1024
"""Longest first message in bytes, with the headers of its records."""

MAX_RECORDS = 8
"""Most records that the first message may come in, which bounds what looking for its end costs."""

_CLIENT_HELLO = 1
_SERVER_NAME = 0
_HOST_NAME = 0


def read_client_hello(data: bytes | bytearray) -> Opening | None:
    """The opening with the name that a TLS client asks for; None while its first message has not come whole.

    Raises:
        Malformed: the bytes are no such message, or it is too long.
    """
    pieces, hello = Pieces(data), b""
    for _ in range(MAX_RECORDS):
        try:
            size = _record_bytes(pieces)
            hello += pieces.take(size)
        except Short:
            return None
        if hello[0] != _CLIENT_HELLO:
            raise Malformed("another message")
        end = 4 + int.from_bytes(hello[1:4], "big")
        if len(hello) >= max(end, 4):
            return Opening("tls", _named(Pieces(hello[4:end])))
        if len(hello) >= 4 and end > MAX_BYTES:
            raise Malformed("too long")
    raise Malformed("too many records")


def _record_bytes(pieces: Pieces) -> int:
    if pieces.take(2) != FIRST:
        raise Malformed("another record")
    pieces.take(1)
    size = pieces.number(2)
    if not 0 < size <= MAX_BYTES - pieces.at:
        raise Malformed("an empty record, or too long")
    return size


def _named(hello: Pieces) -> str | None:
    try:
        hello.take(2 + 32)  # version, random
        for size in (1, 2, 1):  # session, ciphers, compression
            hello.block(size)
        extensions = hello.block(2)
        while extensions.left:
            kind, extension = extensions.number(2), extensions.block(2)
            if kind == _SERVER_NAME:
                names = extension.block(2)
                is_host, name = names.number(1) == _HOST_NAME, names.block(2)
                return clean_host(name.take(name.left).decode("ascii")) if is_host else None
    except (Short, UnicodeDecodeError):
        raise Malformed("shorter than it says, or no text") from None
    return None
