"""Minecraft's handshake, of all versions since 1.7."""

from scripts.gateway_node.hosts import clean_host
from scripts.gateway_node.pieces import Kind, Malformed, Opening, Pieces, Short

MAX_BYTES = 1024
"""Longest handshake in bytes, with the length in front of it."""

MAX_HOST_CHARACTERS = 255

_LENGTH_BYTES = 3
_VARINT_BYTES = 5

_STATES: dict[int, Kind] = {1: "status", 2: "login", 3: "transfer"}


def read_handshake(data: bytes | bytearray) -> Opening | None:
    """The handshake that these bytes begin with; None while it has not come whole.

    Raises:
        Malformed: the bytes are no handshake.
    """
    pieces = Pieces(data)
    try:
        size = pieces.varint(_LENGTH_BYTES)
        if not 0 < size <= MAX_BYTES - pieces.at:
            raise Malformed("too long, or empty")
        if pieces.left and data[pieces.at] != 0:
            raise Malformed("another packet")
        packet = Pieces(pieces.take(size))
    except Short:
        return None
    try:
        return _packet(packet)
    except Short:
        raise Malformed("shorter than it says") from None


def _packet(packet: Pieces) -> Opening:
    packet.take(1)  # the kind of packet, which was looked at
    packet.varint(_VARINT_BYTES)  # the version of the protocol
    size = packet.varint(_VARINT_BYTES)
    try:
        host = packet.take(size).decode()
    except UnicodeDecodeError:
        raise Malformed("a host that is no text") from None
    if len(host) > MAX_HOST_CHARACTERS:
        raise Malformed("a host that is too long")
    packet.take(2)  # the port
    kind = _STATES.get(packet.varint(_VARINT_BYTES))
    if kind is None or packet.left:
        raise Malformed("no such state, or more behind it")
    return Opening(kind, clean_host(host))
