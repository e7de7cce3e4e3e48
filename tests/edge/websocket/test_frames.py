"""Frames of the live sockets: their JSON (contract §9) and their WebSocket headers (RFC 6455 §5.2)."""

import json

import msgspec
import pytest
from wsproto.connection import Connection, ConnectionType
from wsproto.events import TextMessage

from actors.kernel.sink import Prepared
from routes.edge.websocket import frames


def text_of(prepared: Prepared) -> str:
    (payload,) = prepared.payloads
    return payload.decode()


def as_client_reads(wire: bytes) -> list[str]:
    """What a client's parser makes of the bytes."""
    client = Connection(ConnectionType.CLIENT)
    client.receive_data(wire)
    messages, parts = [], ""
    for event in client.events():
        assert isinstance(event, TextMessage), event
        parts += event.data
        if event.message_finished:
            messages.append(parts)
            parts = ""
    return messages


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 65_535, 65_536, 70_000])
def test_headers_of_every_length(length: int) -> None:
    prepared = frames.prepare(msgspec.Raw(b"x" * length))
    assert prepared.payloads == (b"x" * length,)
    assert as_client_reads(prepared.wire) == (["x" * length])


def test_joined_frames_are_read_one_by_one() -> None:
    joined = Prepared.join(frames.prepare(msgspec.Raw(str(n).encode() * 100)) for n in range(5))
    assert as_client_reads(joined.wire) == [str(n) * 100 for n in range(5)]
    assert len(joined.payloads) == 5


def test_every_frame_as_the_contract_writes_it() -> None:
    limits = frames.SocketLimits()
    assert text_of(frames.hello("s", 5, heartbeat_ms=30_000, limits=limits)) == (
        '{"type":"hello","v":1,"sessionId":"s","heartbeatMs":30000,"serverTimeMs":5,'
        '"limits":{"commandsPerMinute":120,"maxSubscriptions":200,"maxFrameBytes":65536}}'
    )
    assert text_of(frames.reply_subscribed(1, "friends", epoch="k3", offset=42, recovered=True)) == (
        '{"type":"reply","id":1,"ok":true,"channel":"friends","epoch":"k3","offset":42,"recovered":true}'
    )
    assert text_of(frames.reply_ok("a")) == '{"type":"reply","id":"a","ok":true}'
    assert text_of(frames.reply_ok(2, data=msgspec.Raw(b'{"x": 1}'))) == (
        '{"type":"reply","id":2,"ok":true,"data":{"x": 1}}'
    )
    assert text_of(frames.reply_error(1, "FORBIDDEN", "no")) == (
        '{"type":"reply","id":1,"ok":false,"error":{"code":"FORBIDDEN","message":"no"}}'
    )
    assert text_of(frames.pong(3)) == '{"type":"pong","id":3}'
    assert text_of(frames.unsubscribed("friends", "FORBIDDEN")) == (
        '{"type":"unsubscribed","channel":"friends","code":"FORBIDDEN"}'
    )
    assert text_of(frames.reconnect(4210, "DRAINING")) == (
        '{"type":"reconnect","afterMs":4210,"reason":"DRAINING"}'
    )


def test_the_live_envelope_copies_what_is_encoded_already() -> None:
    data = msgspec.Raw(b'{"kept" : "as it is"}')
    assert text_of(frames.LIVE.snapshot("friends", "a1", 7, 0, data)) == (
        '{"type":"snapshot","channel":"friends","epoch":"a1","offset":7,"skipped":0,'
        '"data":{"kept" : "as it is"}}'
    )
    event = frames.LIVE.event("c", "k3", 43, "message_created", data, self_=None)
    assert text_of(event) == (
        '{"type":"event","channel":"c","epoch":"k3","offset":43,"event":"message_created",'
        '"data":{"kept" : "as it is"}}'
    )
    own = frames.LIVE.event("c", "k3", None, "poll_updated", {}, self_={"selected": ["x"]})
    assert json.loads(text_of(own)) == {
        "type": "event",
        "channel": "c",
        "epoch": "k3",
        "offset": None,
        "event": "poll_updated",
        "data": {},
        "self": {"selected": ["x"]},
    }


def test_the_bare_envelope_adds_nothing_and_has_no_events() -> None:
    assert text_of(frames.BARE.snapshot("inbox", "a", 1, 0, {"items": []})) == '{"items":[]}'
    with pytest.raises(TypeError):
        frames.BARE.event("inbox", "a", 1, "x", {}, self_=None)
