"""The PROXY protocol, version 2: how a backend learns a player's address (haproxy.org, proxy-protocol.txt §2.2).

The header of a connection that has come through several gateways says through how many, in a field of ours (type 0xE0,
the first that is free for anybody), which readers skip that do not know it. A header without that field counts as one.
"""

from ipaddress import IPv4Address, IPv6Address, ip_address

import msgspec

from scripts.gateway_node.pieces import Malformed, Pieces, Short

SIGNATURE = bytes.fromhex("0D0A0D0A000D0A515549540A")

MAX_BYTES = 1024
"""Longest header, in bytes, that is read."""

_LOCAL, _PROXY = 0x20, 0x21
_TCP4, _TCP6 = 0x11, 0x21
_ADDRESS_BYTES = {_TCP4: 4, _TCP6: 16}
_HOPS = 0xE0
_MAX_HOPS = 255

Place = tuple[str, int]
"""(IP address, port)."""


class Header(msgspec.Struct, frozen=True):
    """The header in front of a connection.

    Args:
        size: the header's length in bytes; 0 where there is none.
        source: where the connection comes from; None where a proxy connects for itself, or carries no TCP.
        hops: how many gateways and proxies it has come through.
    """

    size: int
    source: Place | None
    hops: int


def write_header(source: Place, target: Place, hops: int) -> bytes:
    """Make the header of a connection.

    Args:
        source: the player's address and port.
        target: the address and port that the player has connected to.
        hops: how many gateways the connection has come through before; with 0 our field is left out.
    """
    ends = [ip_address(source[0]), ip_address(target[0])]
    if any(end.version == 6 for end in ends):
        ends = [IPv6Address(f"::ffff:{end}") if isinstance(end, IPv4Address) else end for end in ends]
    family = _TCP6 if ends[0].version == 6 else _TCP4
    rest = b"".join(end.packed for end in ends) + source[1].to_bytes(2, "big") + target[1].to_bytes(2, "big")
    if hops:
        rest += bytes((_HOPS, 0, 1, min(hops + 1, _MAX_HOPS)))
    return SIGNATURE + bytes((_PROXY, family)) + len(rest).to_bytes(2, "big") + rest


def read_header(data: bytes | bytearray) -> Header | None:
    """The header that these bytes begin with; None while it has not come whole. Its size is 0 where they begin with
    none.

    Raises:
        Malformed: the header is not one of version 2, or too long.
    """
    begin = bytes(data[: len(SIGNATURE)])
    if begin != SIGNATURE[: len(begin)]:
        return Header(0, None, 0)
    pieces = Pieces(data)
    try:
        pieces.take(len(SIGNATURE))
        command, family, size = pieces.number(1), pieces.number(1), pieces.number(2)
        if command not in {_LOCAL, _PROXY}:
            raise Malformed("another version, or command")
        if size > MAX_BYTES - pieces.at:
            raise Malformed("too long")
        rest = Pieces(pieces.take(size))
    except Short:
        return None
    if command == _LOCAL or family not in _ADDRESS_BYTES:
        return Header(pieces.at, None, 1)
    try:
        return _addressed(rest, _ADDRESS_BYTES[family], pieces.at)
    except Short:
        raise Malformed("shorter than it says") from None


def _addressed(rest: Pieces, address_bytes: int, size: int) -> Header:
    address = ip_address(rest.take(address_bytes))
    rest.take(address_bytes)
    port = rest.number(2)
    rest.take(2)
    hops = 1
    while rest.left:
        kind, field = rest.number(1), rest.block(2)
        if kind == _HOPS:
            hops = max(hops, field.number(1))
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return Header(size, (str(mapped or address), port), hops)
