"""What frames of an HTTP/2 client cost: counted by their heads, and handled a few at a time."""

import h2.errors
import h2.events
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes.edge import policies
from routes.edge.limits import Limits
from routes.edge.server.server import ServerSettings
from routes.edge.tls.frames import AT_ONCE, FRAMES_A_KIB, FRAMES_A_RESPONSE, Allowance, Frames
from tests.edge.apps import Application, FixedClock
from tests.edge.certificate import Certificate
from tests.edge.tls.http2_client import connected
from tests.support.server import running

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
QUOTA = policies.HTTP2_FRAME.quota
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION, UNKNOWN = (
    *(0, 1, 2, 3, 4, 6, 8, 9),
    0xEE,
)
END_STREAM = 1


def frame(kind: int, payload: bytes = b"", flags: int = 0, stream_id: int = 1) -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream_id.to_bytes(4, "big") + payload


FLOODS = {
    "empty parts of a body": frame(DATA),
    "tiny parts of a body": frame(DATA, b"x"),
    "parts of a body that are nothing but padding": frame(DATA, b"\0", flags=8),
    "priorities": frame(PRIORITY, bytes(5)),
    "resets": frame(RST_STREAM, bytes(4)),
    "settings": frame(SETTINGS),
    "pings": frame(PING, bytes(8)),
    "room": frame(WINDOW_UPDATE, bytes(4)),
    "anything": frame(UNKNOWN, bytes(100)),
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_what_brings_nothing_is_counted_and_handled_a_few_at_a_time(flood: bytes) -> None:
    frames = Frames()
    pieces = list(frames.cut(PREFACE + flood * 1000))
    assert frames.idle == 1000
    assert b"".join(pieces) == PREFACE + flood * 1000
    assert len(pieces) >= 30


def test_what_asks_or_brings_something_is_not_counted() -> None:
    frames = Frames()
    body = frame(DATA, bytes(16)) + frame(DATA, flags=END_STREAM)
    asked = frame(HEADERS, bytes(40)) + frame(CONTINUATION, bytes(40)) + body
    assert list(frames.cut(PREFACE + asked)) == [PREFACE + asked]
    assert frames.idle == 0


def test_heads_of_many_fields_are_handled_one_at_a_time() -> None:
    head = frame(HEADERS, bytes(64 * AT_ONCE))
    assert len(list(Frames().cut(PREFACE + head * 10))) >= 10


@given(
    st.lists(st.tuples(st.sampled_from([0, 1, 3, 6, 9, 0xEE]), st.binary(max_size=200)), max_size=80),
    st.data(),
)
def test_it_does_not_matter_in_which_pieces_frames_come(
    sent: list[tuple[int, bytes]], data: st.DataObject
) -> None:
    whole = PREFACE + b"".join(frame(kind, payload) for kind, payload in sent)
    expected, frames = Frames(), Frames()
    list(expected.cut(whole))
    heard, at = b"", 0
    while at < len(whole):
        step = data.draw(st.integers(1, 300))
        heard += b"".join(frames.cut(whole[at : at + step]))
        at += step
    assert heard == whole
    assert frames.idle == expected.idle


def test_a_client_is_allowed_frames_for_what_it_was_sent(clock: FixedClock) -> None:
    allowance = Allowance(Limits().meter(policies.HTTP2_FRAME), clock)
    assert allowance.take(QUOTA)
    assert not allowance.take(1)
    allowance.sent(1023)
    assert not allowance.take(1)
    allowance.sent(1)
    assert allowance.take(FRAMES_A_KIB)
    assert not allowance.take(1)
    allowance.answered()
    assert allowance.take(FRAMES_A_RESPONSE)
    assert not allowance.take(1)
    clock.at_ms += policies.HTTP2_FRAME.window_seconds * 1000
    assert allowance.take(QUOTA)


@pytest.mark.parametrize("flood", [FLOODS["settings"], FLOODS["pings"], FLOODS["anything"]])
async def test_a_client_that_floods_a_connection_is_told_and_the_connection_ends(
    flood: bytes, certificate: Certificate
) -> None:
    settings = ServerSettings(certificate=certificate.server, clock=FixedClock(), linger_seconds=0.1)
    connection_wide = flood[:5] + bytes(4) + flood[9:]
    async with running(Application(), settings=settings) as url, connected(url, certificate) as client:
        await client.say(connection_wide * (QUOTA // 2))
        await client.ask(1, b"/x")
        await client.hear(h2.events.StreamEnded)
        await client.say(connection_wide * (QUOTA // 2 + 1))
        (told,) = [
            event
            for event in await client.hear(h2.events.ConnectionTerminated)
            if isinstance(event, h2.events.ConnectionTerminated)
        ]
    assert told.error_code == h2.errors.ErrorCodes.ENHANCE_YOUR_CALM


async def test_a_client_may_open_both_windows_by_each_kib_that_it_takes(certificate: Certificate) -> None:
    settings = ServerSettings(certificate=certificate.server, clock=FixedClock())
    size, taken, opened = 8_000_000, 0, 0
    assert 2 * size // 1024 > QUOTA
    async with running(Application(), settings=settings) as url, connected(url, certificate) as client:
        await client.narrow(65_536)
        await client.ask(1, b"/big")
        while taken < size:
            taken += await client.hear_data()
            for _ in range(opened, taken // 1024):
                client.h2.increment_flow_control_window(1024)
                client.h2.increment_flow_control_window(1024, 1)
            opened = taken // 1024
            await client.flush()
    assert taken == size
