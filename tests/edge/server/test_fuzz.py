"""Random frames and mutated handshakes: the process lives, and what was valid was understood.

Each test prints its seed; `FUZZ_SEED=…` runs that one again.
"""

import os
from random import Random, SystemRandom

import pytest
import trio
from wsproto.connection import Connection, ConnectionState, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, TextMessage
from wsproto.utilities import LocalProtocolError

from routes.edge.server.server import ServerSettings
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, echo
from tests.edge.raw import HANDSHAKE, alive, raw
from tests.support.server import running

CONNECTIONS = 60
FRAMES_A_CONNECTION = 60
HANDSHAKES = 400


@pytest.fixture
def rng() -> Random:
    seed = int(os.environ.get("FUZZ_SEED") or SystemRandom().randrange(1 << 32))
    print(f"FUZZ_SEED={seed}")
    return Random(seed)


def frame(rng: Random) -> bytes:
    """One masked frame, usually valid; broken in one of a frame's many ways now and then."""
    broken = rng.random() < 0.02
    opcode = rng.choice((1, 1, 1, 1, 9, 10)) if not broken else rng.randrange(16)
    letters = rng.choice((0, 1, 5, 120)) if opcode > 2 else rng.randrange(300)
    payload = bytes(rng.choices(b"abcdefghij", k=letters))
    fin = 0x80 if not broken or rng.random() < 0.5 else 0
    reserved = rng.choice((0, 0x10, 0x20, 0x40)) if broken else 0
    if broken and rng.random() < 0.3:
        payload = bytes(rng.choices(range(256), k=rng.randrange(20)))
    masked = 0x80 if not broken or rng.random() < 0.7 else 0
    length = len(payload)
    size = bytes((masked | length,)) if length < 126 else bytes((masked | 126,)) + length.to_bytes(2, "big")
    if broken and rng.random() < 0.2:
        size = bytes((masked | 127,)) + rng.choice((length, 1 << 40, 1 << 63)).to_bytes(8, "big")
    mask = rng.randbytes(4)
    body = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload)) if masked else payload
    return bytes((fin | reserved | opcode,)) + size + (mask if masked else b"") + body


def understood(data: bytes) -> list[str]:
    """The text messages that wsproto, as a server, finds before the first mistake or binary message."""
    server = Connection(ConnectionType.SERVER)
    server.receive_data(data)
    texts, parts = [], ""
    for event in server.events():
        if isinstance(event, BytesMessage | CloseConnection):
            break
        if isinstance(event, TextMessage):
            parts += event.data
            if event.message_finished:
                texts.append(parts)
                parts = ""
    return texts


def echoed(wire: bytes) -> list[str]:
    """The text messages in what the server sent."""
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(wire)
    texts, parts = [], ""
    for event in client.events():
        if isinstance(event, TextMessage):
            parts += event.data
            if event.message_finished:
                texts.append(parts[1:-1])
                parts = ""
        elif isinstance(event, CloseConnection):
            # A close frame, not a mistake of ours: then the parser would have raised its own.
            assert client.state is ConnectionState.REMOTE_CLOSING, event
    return texts


async def test_valid_messages_before_the_first_mistake_are_echoed(rng: Random, sockets: Sockets) -> None:
    """Every valid message before the first mistake is echoed, in order, and nothing else is."""
    app = Application(handler=echo, sockets=sockets)

    async def one(base_url: str, data: bytes, cuts: list[int]) -> None:
        async with raw(base_url) as connection:
            await connection.send(HANDSHAKE)
            assert (await connection.read_response())[0] == 101
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_send_in_pieces, connection.stream, data, cuts)
                received = await connection.read_to_end()
            expected, got = understood(data), echoed(received)
            # After its mistake the client may be told so before the last echoes are written.
            assert got == expected[: len(got)]
            assert len(got) == len(expected) or len(expected) - len(got) <= 16

    settings = ServerSettings(linger_seconds=0.2, sweep_seconds=0.05)
    async with running(app, settings=settings) as base_url:
        async with trio.open_nursery() as nursery:
            for _ in range(CONNECTIONS):
                close = b"\x88\x80\x00\x00\x00\x00"
                data = b"".join(frame(rng) for _ in range(FRAMES_A_CONNECTION)) + close
                cuts = sorted(rng.randrange(len(data)) for _ in range(rng.randrange(5)))
                nursery.start_soon(one, base_url, data, cuts)
        assert await alive(base_url)
        assert len(sockets) == 0


async def _send_in_pieces(stream: trio.SocketStream, data: bytes, cuts: list[int]) -> None:
    try:
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            await stream.send_all(data[start:end])
        await stream.send_eof()
    except trio.BrokenResourceError:
        # The server has closed after a mistake.
        return


def mutated(rng: Random) -> bytes:
    """A handshake with one to four bytes or lines changed."""
    data = bytearray(HANDSHAKE)
    for _ in range(rng.randrange(1, 5)):
        where = rng.randrange(len(data))
        match rng.randrange(6):
            case 0:
                data[where] = rng.randrange(256)
            case 1:
                data.insert(where, rng.randrange(256))
            case 2:
                del data[where]
            case 3:
                lines = bytes(data).split(b"\r\n")
                lines.insert(rng.randrange(1, len(lines)), rng.choice(lines[1:]))
                data = bytearray(b"\r\n".join(lines))
            case 4:
                lines = bytes(data).split(b"\r\n")
                del lines[rng.randrange(len(lines))]
                data = bytearray(b"\r\n".join(lines) or b"x")
            case 5:
                data += rng.randbytes(rng.randrange(40))
    return bytes(data)


async def test_a_mutated_handshake_harms_no_later_client(rng: Random, sockets: Sockets) -> None:
    """Whatever comes, it is refused, or upgraded, or waited for; and the next client is served."""
    app = Application(handler=echo, sockets=sockets)
    limiter = trio.CapacityLimiter(20)

    async def one(base_url: str, data: bytes) -> None:
        async with limiter, raw(base_url) as connection:
            await _send_in_pieces(connection.stream, data, [])
            received = await connection.read_to_end()
            assert not received or received[:9] == b"HTTP/1.1 ", data
            assert b"500" not in received[9:13], data

    settings = ServerSettings(linger_seconds=0.2, sweep_seconds=0.05)
    async with running(app, settings=settings) as base_url:
        async with trio.open_nursery() as nursery:
            for _ in range(HANDSHAKES):
                nursery.start_soon(one, base_url, mutated(rng))
        assert await alive(base_url)
        assert len(sockets) == 0


def test_the_oracle_itself_survives() -> None:
    """wsproto refuses data after a close; the stream in front of it must not hand it any."""
    server = Connection(ConnectionType.SERVER)
    server.receive_data(b"\x88\x80\x00\x00\x00\x00")
    (event,) = server.events()
    assert isinstance(event, CloseConnection)
    server.send(event.response())
    with pytest.raises(LocalProtocolError):
        server.receive_data(b"\x81")
