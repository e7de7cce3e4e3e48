"""Random requests, mutated and cut anywhere: the parser never raises, and pieces make no difference.

Each test prints its seed; `FUZZ_SEED=…` runs that one again. h11 is the oracle: what our parser takes for a request,
h11 takes for the same one; what it refuses we refuse, but for what `LENIENT` undoes before h11 sees it.
"""

import os
import re
from random import Random, SystemRandom
from typing import NamedTuple

import h11
import pytest
import trio

from routes.edge.server.parser import RequestParser
from routes.edge.server.server import ServerSettings
from tests.edge.apps import Application, plain
from tests.edge.differential import bodies, connections, heads
from tests.edge.raw import alive, raw
from tests.support.server import running

STREAMS = 3000
CONNECTIONS = 150
HEAD_MAX_BYTES = 16 * 1024

SEEDS = [
    case.pieces[0]
    for case in (
        *heads.MESSAGE,
        *heads.REQUEST_LINE,
        *heads.TARGET,
        *heads.FIELDS,
        *bodies.LENGTH,
        *bodies.CHUNKS,
        *connections.CONNECTION,
        *connections.OTHERWISE,
    )
    if 0 < len(case.pieces[0]) < 3000
]

MORSELS = [
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b"0",
    b"5",
    b"\xff",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: Upgrade\r\nUpgrade: tea\r\n",
    b"Expect: 100-continue\r\n",
    b"Host: u\r\n",
    b"0\r\n\r\n",
    b"5\r\nhello\r\n",
    b"GET / HTTP/1.1\r\nHost: t\r\n\r\n",
]

LENIENT = re.compile(rb"[\r\n]*([A-Z-]+) +(\S+) +(?:HTTP|RTSP|ICE)/")
"""What ours takes for the start of a request and h11 does not: see `differences.py`."""


@pytest.fixture
def rng() -> Random:
    seed = int(os.environ.get("FUZZ_SEED") or SystemRandom().randrange(1 << 32))
    print(f"FUZZ_SEED={seed}")
    return Random(seed)


class Seen(NamedTuple):
    """One request as a parser understood it."""

    method: str
    target: bytes
    body: bytes
    complete: bool


def mutated(rng: Random) -> bytes:
    """One to three requests of the differential test, with none to four mistakes."""
    data = bytearray(b"".join(rng.choices(SEEDS, k=rng.randrange(1, 4))))
    for _ in range(rng.randrange(5)):
        where = rng.randrange(len(data) + 1)
        match rng.randrange(4):
            case 0:
                data[where : where + 1] = rng.randbytes(1)
            case 1:
                data[where:where] = rng.choice(MORSELS)
            case 2:
                del data[where : where + rng.randrange(1, 4)]
            case 3:
                start = rng.randrange(len(data) + 1)
                data[where:where] = data[start : start + rng.randrange(40)]
    return bytes(data)


def read(data: bytes, cuts: list[int]) -> tuple[list[Seen], str | None, bytes | None]:
    """Everything that our parser makes of a stream: requests, how it was refused, what came behind a handshake."""
    parser = RequestParser(HEAD_MAX_BYTES)
    found: list[Seen] = []
    taken = []
    for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        parser.feed(data[start:end])
        while parser.requests:
            taken.append(parser.requests.popleft())
            parser.resume()
    for request in taken:
        found.append(Seen(request.method, request.target, request.take_body(), request.complete))
        if not request.persistent:
            break
    refused = None if parser.refused is None else type(parser.refused).__name__
    return found, refused, None if parser.early is None else bytes(parser.early)


def oracle(data: bytes) -> list[Seen]:
    """The requests that h11 finds, up to the first mistake; the last may be incomplete."""
    found: list[Seen] = []
    while data:
        connection = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 20)
        start = LENIENT.match(data)
        connection.receive_data(
            data if start is None else start.expand(rb"\1 \2 HTTP/") + data[start.end() :]
        )
        try:
            while True:
                event = connection.next_event()
                if isinstance(event, h11.Request):
                    found.append(Seen(event.method.decode(), event.target, b"", complete=False))
                elif isinstance(event, h11.Data):
                    found[-1] = found[-1]._replace(body=found[-1].body + event.data)
                elif isinstance(event, h11.EndOfMessage):
                    found[-1] = found[-1]._replace(complete=True)
                    data = connection.trailing_data[0]
                    break
                else:
                    return found
        except h11.RemoteProtocolError:
            return found
    return found


def test_pieces_make_no_difference(rng: Random) -> None:
    for _ in range(STREAMS):
        data = mutated(rng)
        whole = read(data, [])
        cuts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 8)))
        assert read(data, cuts) == whole, (data, cuts)


def test_what_we_accept_h11_reads_alike(rng: Random) -> None:
    for _ in range(STREAMS):
        data = mutated(rng)
        ours = [request for request in read(data, [])[0] if request.complete]
        theirs = oracle(data)
        for mine, known in zip(ours, theirs, strict=False):
            taken_apart = known.target[:4].lower() == b"http"  # only by ours
            assert mine == (known._replace(target=mine.target) if taken_apart else known), data
        assert len(ours) <= len(theirs), data


def test_every_position_of_a_cut() -> None:
    """Each request of the differential test, cut once at every byte."""
    for data in SEEDS:
        if len(data) < 300:
            whole = read(data, [])
            for cut in range(len(data)):
                assert read(data, [cut]) == whole, (data, cut)


@pytest.mark.parametrize("direct", [True, False])
async def test_the_server_lives(direct: bool, rng: Random) -> None:
    """Whatever comes is answered or waited for, is nobody's fault, and the next client is served."""
    app = Application()
    limiter = trio.CapacityLimiter(20)

    async def one(base_url: str, data: bytes, cut: int) -> None:
        async with limiter, raw(base_url) as connection:
            try:
                await connection.send(data[:cut])
                await connection.send(data[cut:])
                await connection.stream.send_eof()
            except trio.BrokenResourceError:
                return  # closed after a mistake
            received = await connection.read_to_end()
            assert not received or received.startswith(b"HTTP/1.1 "), data
            assert b"HTTP/1.1 500" not in received, data

    settings = ServerSettings(linger_seconds=0.2, sweep_seconds=0.05)
    served = app if direct else plain(app)
    async with running(served, settings=settings) as base_url:
        async with trio.open_nursery() as nursery:
            for _ in range(CONNECTIONS):
                data = mutated(rng)
                nursery.start_soon(one, base_url, data, rng.randrange(len(data) + 1))
        assert await alive(base_url)
