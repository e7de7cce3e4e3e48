"""Frames that are no messages are no way to keep the server busy: pings, pongs and fragments are counted."""

import pytest

from routes.edge import policies
from routes.edge.limits import Limits
from routes.edge.server.server import ServerSettings
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, FixedClock, echo, plain
from tests.edge.certificate import Certificate
from tests.edge.raw import HANDSHAKE, Raw, raw
from tests.edge.server.play import client_frame
from tests.support.server import running

QUOTA = policies.LIVE_FRAME.quota

PING, PONG = client_frame(9), client_frame(10)
BEGIN, MORE = client_frame(1, fin=False), client_frame(0, fin=False)
FLOOD = {"pings": PING * QUOTA, "pongs": PONG * QUOTA, "fragments": BEGIN + MORE * (QUOTA - 1)}

ALIVE = {
    "pings": client_frame(1, b"hi"),
    "pongs": client_frame(1, b"hi"),
    "fragments": client_frame(0, b"hi"),
}
LAST = {"pings": PING, "pongs": PONG, "fragments": BEGIN}


async def opened(connection: Raw) -> None:
    await connection.send(HANDSHAKE)
    assert (await connection.read_response())[0] == 101


async def echoed(connection: Raw) -> None:
    """The echo comes, behind any number of pongs (and the ping with which Hypercorn greets)."""
    while (head := await connection.read(2)) in {b"\x8a\x00", b"\x89\x00"}:
        pass
    assert head + await connection.read(4) == b'\x81\x04"hi"'


@pytest.mark.parametrize("secure", [False, True], ids=["cleartext", "TLS"])
@pytest.mark.parametrize("kind", FLOOD)
async def test_control_frames_and_fragments_are_not_free(
    kind: str, secure: bool, sockets: Sockets, clock: FixedClock, certificate: Certificate
) -> None:
    """To the frame: a full bucket passes, one more closes with 4429."""
    files = {"certificate": certificate.server} if secure else {}
    settings = ServerSettings(clock=clock, linger_seconds=0.2, sweep_seconds=0.05, **files)  # type: ignore[arg-type]
    app = Application(handler=echo, sockets=sockets)
    trusting = certificate.trusting() if secure else None
    async with running(app, settings=settings) as base_url, raw(base_url, trusting) as connection:
        await opened(connection)
        await connection.send(FLOOD[kind] + ALIVE[kind])
        await echoed(connection)
        clock.at_ms += 99
        await connection.send(LAST[kind])
        answer = await connection.read_to_end()
        assert answer[:1] == b"\x88"
        assert answer[2:4] == (4429).to_bytes(2, "big")
        assert len(sockets) == 0


async def test_the_rate_is_refilled_by_the_clock(sockets: Sockets, clock: FixedClock) -> None:
    app = Application(handler=echo, sockets=sockets)
    async with running(app, settings=ServerSettings(clock=clock)) as base_url, raw(base_url) as connection:
        await opened(connection)
        for _ in range(3):
            await connection.send(FLOOD["pings"] + ALIVE["pings"])
            await echoed(connection)
            clock.at_ms += 60_000


async def test_without_rates_frames_are_not_counted(sockets: Sockets, clock: FixedClock) -> None:
    app = Application(handler=echo, sockets=sockets)
    settings = ServerSettings(clock=clock, limits=Limits(enabled=False))
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await opened(connection)
        await connection.send(FLOOD["pongs"] * 3 + ALIVE["pongs"])
        await echoed(connection)


async def test_plain_applications_are_protected_too(sockets: Sockets, clock: FixedClock) -> None:
    app = plain(Application(handler=echo, sockets=sockets))
    async with running(app, settings=ServerSettings(clock=clock)) as base_url, raw(base_url) as connection:
        await opened(connection)
        await connection.send(FLOOD["pongs"] + PONG)
        assert (await connection.read_to_end())[2:4] == (4429).to_bytes(2, "big")
