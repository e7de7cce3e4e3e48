"""permessage-deflate: what is agreed on, and that inflating is bounded."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.kernel.sink import Prepared
from routes.edge.transport.settings import ServerSettings
from routes.edge.websocket.deflate import AGREED, LIMITED, MIN_BYTES, Inflater, compress, negotiate
from routes.edge.websocket.frame_reader import BAD_DATA, TOO_BIG, FrameError
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.packed import Packed, packed
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, echo
from tests.edge.raw import HANDSHAKE, raw
from tests.support.server import running


@pytest.mark.parametrize(
    ("offered", "answer"),
    [
        (b"", None),
        (b"permessage-deflate", AGREED),
        (b"Permessage-Deflate ; client_max_window_bits", AGREED),
        (b"permessage-deflate; client_max_window_bits=10; server_no_context_takeover", AGREED),
        (b"permessage-deflate; server_max_window_bits=15", AGREED + LIMITED),
        (b'permessage-deflate; server_max_window_bits="15"', AGREED + LIMITED),
        (b"permessage-deflate; server_max_window_bits=10", None),
        (b"permessage-deflate; server_max_window_bits", None),
        (b"permessage-deflate; server_max_window_bits=10, permessage-deflate", AGREED),
        (b"permessage-deflate; client_max_window_bits=16", None),
        (b"permessage-deflate; server_no_context_takeover=1", None),
        (b"permessage-deflate; client_no_context_takeover; client_no_context_takeover", None),
        (b"permessage-deflate; unknown", None),
        (b"x-webkit-deflate-frame", None),
        (b"permessage-deflate-2", None),
        (b"permessage-deflate; \xff", None),
    ],
)
def test_deflate_is_agreed_on_without_context_takeover_or_not_at_all(
    offered: bytes, answer: bytes | None
) -> None:
    assert negotiate(offered) == answer


@given(st.binary(max_size=5_000))
def test_there_and_back(message: bytes) -> None:
    assert Inflater().inflate(compress(message), 5_000) == message


def test_a_bomb_is_stopped_at_the_bound() -> None:
    bomb = compress(b"\0" * 50_000_000)
    with pytest.raises(FrameError) as refused:
        Inflater().inflate(bomb, 65_536)
    assert refused.value.code == TOO_BIG


@pytest.mark.parametrize("broken", [b"\xff\xff", b"\x07"])
def test_what_is_broken_is_refused(broken: bytes) -> None:
    with pytest.raises(FrameError) as refused:
        Inflater().inflate(broken, 65_536)
    assert refused.value.code == BAD_DATA


def test_a_message_is_compressed_once_for_all() -> None:
    large = prepare({"text": "x" * (MIN_BYTES + 1)})
    twin = packed(large)
    assert isinstance(twin, Packed)
    assert twin is packed(large)
    assert twin is packed(twin)
    assert len(twin.wire) < len(large.wire)
    small = prepare({"text": "x"})
    assert packed(small) is small


def test_only_what_is_large_is_compressed() -> None:
    large, small = prepare({"text": "y" * 3_000}), prepare({"text": "z"})
    wire = packed(Prepared.join([small, large])).wire
    assert wire.startswith(small.wire)
    assert wire[len(small.wire)] == 0xC1


def _client_frame(payload: bytes, first: int) -> bytes:
    assert len(payload) < 126
    return bytes((first, 0x80 | len(payload))) + b"\0\0\0\0" + payload


@pytest.mark.parametrize("deflate", [True, False])
async def test_on_the_wire(deflate: bool, sockets: Sockets) -> None:
    text = b"x" * (MIN_BYTES + 100)
    app = Application(handler=echo, sockets=sockets)
    offer = b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n"
    settings = ServerSettings(deflate=deflate)
    async with running(app, settings=settings) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE.removesuffix(b"\r\n") + offer)
        status, headers, _ = await connection.read_response()
        assert status == 101
        assert headers.get("sec-websocket-extensions") == (AGREED.decode() if deflate else None)
        await connection.send(_client_frame(compress(text), 0xC1))
        if not deflate:
            # A compressed frame that was not agreed on breaks the protocol: 1002.
            assert (await connection.read_to_end())[:4][2:] == (1002).to_bytes(2, "big")
            return
        await connection.send(_client_frame((1000).to_bytes(2, "big"), 0x88))
        came = await connection.read_to_end()
        assert came[0] == 0xC1
        length = came[1]
        assert length < 126
        assert (
            zlib.decompressobj(-15).decompress(came[2 : 2 + length] + b"\x00\x00\xff\xff") == b'"%b"' % text
        )
