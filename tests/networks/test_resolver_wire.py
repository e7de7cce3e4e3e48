"""What a stranger's DNS server may say: how much of it is taken, and that none of it is parsed on the loop."""

import struct
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
import trio

from routes.edge.binds import Bind
from routes.networks import resolver
from routes.networks.nameserver import MAX_BYTES, MAX_RECORDS
from routes.networks.resolver import Resolver
from tests.networks.dns_server import DnsServer
from tests.support.waiting import PATIENCE_SECONDS

DEEP = ".".join(["a"] * 112) + ".example.org"
"""A name of 114 labels."""

OWNER = b"\xc0\x0c"
"""The name that was asked for."""

A, CNAME, TXT = 1, 5, 16


class Zone(DnsServer):
    """Answers with these bytes of records, over TCP where a datagram of 1,232 bytes would not hold them.

    Args:
        records: what the answer section is, and what is behind it.
        count: how many records it says it has there; None for as many as there are.
    """

    def __init__(self) -> None:
        super().__init__()
        self.records: list[bytes] = []
        self.count: int | None = None

    def answer(self, wire: bytes, transport: str) -> bytes:
        question = wire[12 : wire.index(0, 12) + 5]
        self.asked.append((transport, ""))
        said = b"".join(self.records)
        if transport == "udp" and len(said) > 900:
            return wire[:2] + struct.pack(">5H", 0x8380, 1, 0, 0, 0) + question
        count = len(self.records) if self.count is None else self.count
        return wire[:2] + struct.pack(">5H", 0x8180, 1, count, 0, 0) + question + said


def record(kind: int, content: bytes, owner: bytes = OWNER) -> bytes:
    return owner + struct.pack(">HHIH", kind, 1, 60, len(content)) + content


def text(said: str) -> bytes:
    return record(TXT, bytes([len(said)]) + said.encode())


@pytest.fixture
async def zone(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Zone]:
    monkeypatch.setattr(resolver, "SECONDS", PATIENCE_SECONDS)
    async with trio.open_nursery() as nursery:
        zone = Zone()
        await nursery.start(zone.serve)
        yield zone
        nursery.cancel_scope.cancel()


@contextmanager
def names_parsed() -> Iterator[list[str]]:
    """Within it, each call by which dnspython parses a name in this thread: the caller's file."""
    found: list[str] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == "from_wire_parser" and frame.f_back is not None:
            found.append(frame.f_back.f_code.co_filename)

    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)


async def test_records_are_counted_before_they_are_read(zone: Zone):
    lookups = Resolver(Bind("127.0.0.1", zone.port))
    zone.records = [text(f"{number:02}") for number in range(MAX_RECORDS)]
    assert len((await lookups.txt("example.org")).values) == MAX_RECORDS
    zone.records.append(text("one more"))
    assert (await lookups.txt("example.org")).error == "TOO_LARGE"
    zone.count = 65_535
    assert (await lookups.txt("example.org")).error == "TOO_LARGE"
    assert await lookups.addresses("example.org") == []


async def test_bytes_are_counted_before_they_are_read(zone: Zone):
    """Those of the answer, not of its texts, and whatever section they are in."""
    lookups = Resolver(Bind("127.0.0.1", zone.port))
    head = 12 + len(b"\7example\3org\0") + 4
    one, empty = text("one"), len(record(TXT, b""))
    zone.records = [one, record(TXT, b"\0" * (MAX_BYTES - head - len(one) - empty))]
    zone.count = 1
    assert (await lookups.txt("example.org")).values == ["one"]
    zone.records.append(b"\0")
    assert (await lookups.txt("example.org")).error == "TOO_LARGE"
    assert zone.asked.count(("tcp", "")) == 2


async def test_an_answer_of_which_only_the_length_comes_is_not_waited_for():
    """Over TCP the length is refused by itself."""

    async def announce(stream: trio.SocketStream) -> None:
        await stream.receive_some(512)
        await stream.send_all((MAX_BYTES + 1).to_bytes(2, "big"))
        await trio.sleep_forever()

    zone = Zone()
    zone.records = [text("x" * 250)] * 4
    zone._stream = announce  # type: ignore[method-assign]
    async with trio.open_nursery() as nursery:
        await nursery.start(zone.serve)
        assert (await Resolver(Bind("127.0.0.1", zone.port)).txt("example.org")).error == "TOO_LARGE"
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("kind", [TXT, CNAME, A])
async def test_no_answer_is_parsed_on_the_loop(zone: Zone, kind: int):
    """As many records as are taken, of names as deep as there are: it is everybody's loop."""
    lookups = Resolver(Bind("127.0.0.1", zone.port))
    content = {TXT: b"\1x", CNAME: b"\1b\xc0\x0e", A: b"\x7f\0\0\1"}[kind]
    zone.records = [record(kind, content)] * MAX_RECORDS
    with names_parsed() as found:
        texts, addresses = await lookups.txt(DEEP), await lookups.addresses(DEEP)
    assert (len(texts.values), len(addresses)) == (int(kind == TXT), int(kind == A))
    assert zone.asked
    assert found == []


async def test_the_last_of_many_names_has_the_record(zone: Zone):
    """Through fifteen CNAMEs; through sixteen, or in a circle, there is none."""
    lookups = Resolver(Bind("127.0.0.1", zone.port))
    names = [OWNER, *(bytes([1, 97 + number]) + OWNER for number in range(16))]
    for length, error in ((15, None), (16, "SERVER_FAILURE")):
        chain = [record(CNAME, names[at + 1], names[at]) for at in range(length)]
        zone.records = [record(TXT, b"\3yes", names[length]), *chain]
        found = await lookups.txt("example.org")
        assert (list(found.values), found.error) == ([] if error else ["yes"], error)
    zone.records = [record(CNAME, names[1]), record(CNAME, OWNER, names[1])]
    assert (await lookups.txt("example.org")).error == "SERVER_FAILURE"
