"""The PROXY protocol, byte by byte, and what is made of the headers of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.gateway_node.pieces import Malformed
from scripts.gateway_node.proxy_protocol import MAX_BYTES, SIGNATURE, Header, read_header, write_header

PLAYER, GATEWAY = ("203.0.113.7", 50_000), ("198.51.100.2", 25_565)
OF_PLAYER = bytes.fromhex("0D0A0D0A000D0A515549540A 21 11 000C CB007107 C6336402 C350 63DD")


def test_headers_to_the_byte():
    assert write_header(PLAYER, GATEWAY, 0) == OF_PLAYER
    assert write_header(PLAYER, GATEWAY, 1) == bytes.fromhex(
        "0D0A0D0A000D0A515549540A 21 11 0010 CB007107 C6336402 C350 63DD E0000102"
    )
    assert write_header(("2001:db8::7", 50_000), ("2001:db8::2", 25_565), 0) == bytes.fromhex(
        "0D0A0D0A000D0A515549540A 21 21 0024"
        "20010DB8000000000000000000000007 20010DB8000000000000000000000002 C350 63DD"
    )
    assert write_header(PLAYER, ("2001:db8::2", 25_565), 0) == bytes.fromhex(
        "0D0A0D0A000D0A515549540A 21 21 0024"
        "00000000000000000000FFFFCB007107 20010DB8000000000000000000000002 C350 63DD"
    )


def test_what_others_send():
    assert read_header(OF_PLAYER + b"more") == Header(28, PLAYER, 1)
    assert read_header(b"\x10\0") == Header(0, None, 0)
    assert read_header(SIGNATURE + b"\x20\0\0\0") == Header(16, None, 1)
    assert read_header(SIGNATURE + b"\x21\x31\0\x02ab") == Header(18, None, 1)
    checked = OF_PLAYER[:15] + b"\x13" + OF_PLAYER[16:] + bytes.fromhex("030004 00000000")
    assert read_header(checked) == Header(35, PLAYER, 1)


@pytest.mark.parametrize(
    "sent",
    [
        SIGNATURE + b"\x11\x11\0\0",
        SIGNATURE + b"\x22\x11\0\0",
        SIGNATURE + b"\x21\x11\0\x04abcd",
        SIGNATURE + b"\x21\x11\0\x0d" + bytes(13),
        SIGNATURE + b"\x21\x11\xff\xff",
    ],
)
def test_what_is_broken(sent: bytes):
    with pytest.raises(Malformed):
        read_header(sent)


@pytest.mark.slow
@given(
    st.ip_addresses(), st.ip_addresses(), st.integers(0, 65_535), st.integers(0, 65_535), st.integers(0, 300)
)
def test_what_is_written_is_read(source: object, target: object, port: int, other: int, hops: int):
    sent = write_header((str(source), port), (str(target), other), hops)
    header = read_header(sent)
    assert all(read_header(sent[:size]) is None for size in range(len(sent)))
    mapped = getattr(source, "ipv4_mapped", None)
    assert header == Header(len(sent), (str(mapped or source), port), min(hops + 1, 255))


@given(st.binary(max_size=100), st.booleans())
def test_anything_is_a_header_or_malformed_or_short(data: bytes, begins: bool):
    data = SIGNATURE + data if begins else data
    try:
        header = read_header(data)
    except Malformed:
        return
    assert header is None or header.size <= min(len(data), MAX_BYTES)
