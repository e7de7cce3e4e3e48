"""What a connection begins with: clean ones, broken ones, and none that costs more than its bytes."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scripts.gateway_node import client_hello as tls
from scripts.gateway_node import handshake as modern
from scripts.gateway_node import legacy
from scripts.gateway_node.hosts import clean_host
from scripts.gateway_node.openings import read_opening
from scripts.gateway_node.pieces import Malformed, Opening
from tests.gateway_node.bytes_of import client_hello, handshake, legacy_ping, records, varint

HOST = "lobby.example.org"
HELLO = client_hello(HOST)
STATES = {"status": 1, "login": 2, "transfer": 3}

HOSTS = {
    HOST: HOST,
    "LOBBY.Example.ORG": HOST,
    f"{HOST}.": HOST,
    f"{HOST}\0FML\0": HOST,
    f"{HOST}\0FML2\0": HOST,
    f"{HOST}.\0FML3\0": HOST,
    f"{HOST}\x00127.0.0.1\x00uuid\0[]": HOST,
    f"{HOST}///203.0.113.5:4321///1700000000": HOST,
    f"{HOST}///203.0.113.5:4321///1700000000\0FML3\0": HOST,
    f"_minecraft._tcp.{HOST}": HOST,
    f"_Minecraft._TCP.{HOST}.": HOST,
    "bücher.example.org": "xn--bcher-kva.example.org",
    "": None,
    ".": None,
    "\0FML\0": None,
    "127.0.0.1": None,
    "::1": None,
    "a b": None,
    f"{HOST}..": None,
    "x" * 255: None,
}

BROKEN = {
    "no packet": b"\0",
    "a length without an end": b"\xff\xff\xff\x01",
    "two megabytes": varint(2_000_000) + b"\0",
    "1 KiB and a byte": varint(modern.MAX_BYTES - 1) + b"\0",
    "another packet": b"\x05\x01\x01\x01\x01\x01",
    "a host longer than its packet": varint(8) + b"\0\x04" + varint(200) + b"abcd",
    "a host of 256 characters": handshake("x" * 256),
    "a host that is no text": handshake("ab").replace(b"ab", b"\xff\xfe"),
    "state 0": handshake(HOST, 0),
    "state 4": handshake(HOST, 4),
    "a byte too many": handshake(HOST, more=b"\0"),
    "HTTP": b"GET / HTTP/1.1\r\nHost: lobby.example.org\r\n\r\n",
    "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
    "a login of 1.6": b"\x02\x4e\x00\x03\x00A\x00n\x00n",
    "TLS, another message": b"\x16\x03\x01\x00\x05\x02\x00\x00\x01\x00",
    "TLS, an empty record": b"\x16\x03\x01\x00\x00" * 9,
    "TLS, a megabyte": b"\x16\x03\x01\x00\x04\x01\x10\x00\x00",
    "TLS, a long record": b"\x16\x03\x01\x40\x00",
    "TLS, many records": records(HELLO, 2),
    "TLS, an alert": records(HELLO, 100)[:105] + b"\x15\x03\x03\x00\x02\x01\x00",
    "TLS, shorter than it says": HELLO[:9] + b"\xff" * (len(HELLO) - 9),
    "a legacy ping of another sort": b"\xfe\x01\xfb",
    "a legacy message of another sort": legacy_ping(HOST).replace(b"\0M\0C", b"\0X\0C"),
    "a long legacy message": legacy_ping(HOST)[:27] + b"\xff\xff",
    "a legacy host longer than its message": legacy_ping(HOST)[:30] + b"\xff\xff" + legacy_ping(HOST)[32:],
}


@pytest.mark.parametrize(("host", "clean"), HOSTS.items())
def test_host_names_of_handshakes_are_normalised_or_refused(host: str, clean: str | None):
    assert clean_host(host) == clean
    assert read_opening(handshake(host, 2)) == Opening("login", clean)


@pytest.mark.parametrize(("kind", "state"), STATES.items())
def test_the_state_of_a_handshake_says_what_is_wanted(kind: str, state: int):
    assert read_opening(handshake(HOST, state) + b"\x01\x00") == Opening(kind, HOST)  # type: ignore[arg-type]


def test_snapshots_have_large_protocol_numbers():
    assert read_opening(handshake(HOST, protocol=0x40000100)) == Opening("status", HOST)
    assert read_opening(handshake(HOST, protocol=0xFFFF_FFFF)) == Opening("status", HOST)


def test_a_handshake_may_begin_as_an_old_ping_or_as_tls():
    """A handshake of 254 bytes begins with FE 01, one of 22 with the first byte of TLS."""
    long = handshake("lobby.example.org\0" + "x" * 228)
    short = handshake("a.example.org\0\0")
    assert (long[:2], short[:1]) == (b"\xfe\x01", b"\x16")
    assert read_opening(long) == Opening("status", HOST)
    assert read_opening(short) == Opening("status", "a.example.org")


@pytest.mark.parametrize("sent", BROKEN.values(), ids=BROKEN)
def test_what_is_broken(sent: bytes):
    with pytest.raises(Malformed):
        read_opening(sent)


def test_pings_of_old_clients():
    for sent in (b"\xfe", b"\xfe\x01", b"\xfe\x01\xfa", legacy_ping(HOST)[:20]):
        assert read_opening(sent) is None
        assert read_opening(sent, is_silent=True) == Opening("legacy", None)
    assert read_opening(legacy_ping("LOBBY.example.org")) == Opening("legacy", HOST)
    assert read_opening(legacy_ping("")) == Opening("legacy", None)
    for sent, version in ((b"\xfe", "1.7"), (b"\xfe\x01", "1.7+")):
        answer = legacy.answer(sent)
        text = answer[3:].decode("utf-16-be")
        assert (answer[0], int.from_bytes(answer[1:3], "big")) == (0xFF, len(text))
        assert version in text


def test_names_of_tls():
    assert read_opening(HELLO) == Opening("tls", HOST)
    assert read_opening(client_hello("LOBBY.example.org")) == Opening("tls", HOST)
    assert read_opening(client_hello(None)) == Opening("tls", None)
    assert read_opening(records(HELLO, len(HELLO) // tls.MAX_RECORDS + 1)) == Opening("tls", HOST)


def fed(data: bytes, sizes: list[int]) -> Opening | str | None:
    """What comes out where bytes come in pieces of these sizes."""
    seen = bytearray()
    at = 0
    for size in (*sizes, len(data)):
        seen += data[at : at + size]
        at += size
        try:
            opening = read_opening(seen)
        except Malformed:
            return "malformed"
        if opening is not None:
            return opening
    return None


STARTS = (handshake(HOST, 2), HELLO, records(HELLO, 100), legacy_ping(HOST), b"\xfe\x01", *BROKEN.values())


@pytest.mark.slow
@given(
    st.one_of(
        st.sampled_from(STARTS),
        st.binary(max_size=40),
        st.builds(lambda a, b: a[:20] + b, st.sampled_from(STARTS), st.binary()),
    ),
    st.binary(max_size=8),
    st.lists(st.integers(1, 60), max_size=40),
)
@example(b"\xfe", b"", [])
def test_pieces_do_not_matter(start: bytes, rest: bytes, sizes: list[int]):
    data = start + rest
    assert fed(data, sizes) == fed(data, []) == fed(data, [1] * len(data))


@given(
    st.one_of(
        st.binary(max_size=2000),
        st.builds(lambda a, b: a[:12] + b, st.sampled_from(STARTS), st.binary(max_size=200)),
    ),
    st.booleans(),
)
def test_anything_is_an_opening_or_malformed_or_short(data: bytes, is_silent: bool):
    try:
        opening = read_opening(data, is_silent=is_silent)
    except Malformed:
        return
    assert isinstance(opening, Opening) or (opening is None and not is_silent)


@given(st.text(max_size=255))
def test_any_host_is_clean_or_none(host: str):
    clean = clean_host(host)
    assert clean is None or (clean.isascii() and clean == clean.lower() and clean_host(clean) == clean)
