"""Rules: what a message of a client is read as, and what closes the socket."""

import json

import msgspec
import pytest

from actors.chat.commands import MessageDraft
from routes.chat.socket_commands import Read, Send, Typing
from routes.domains import COMMANDS
from routes.live.channel import SubscribeParams
from routes.live.command import LiveCommand, Ping, Position, Subscribe, Unsubscribe
from routes.live.commands import BadFrame, Commands, Misread

CHANNEL = "conversation:" + "a" * 24

SAID = [
    ({"op": "ping"}, Ping()),
    ({"op": "ping", "id": "x", "whatever": [1]}, Ping(id="x")),
    ({"op": "subscribe", "id": 1, "channel": "inbox"}, Subscribe(id=1, channel="inbox")),
    (
        {
            "op": "subscribe",
            "channel": CHANNEL,
            "since": {"epoch": "k3", "offset": 41},
            "params": {"limit": 5, "mode": "delta", "includeArchived": False, "interval": 3},
        },
        Subscribe(
            channel=CHANNEL,
            since=Position("k3", 41),
            params=SubscribeParams("delta", 5, False, 3),
        ),
    ),
    (
        {"op": "subscribe", "channel": "inbox", "params": {"interval": 0.5}},
        Subscribe(channel="inbox", params=SubscribeParams(interval=0.5)),
    ),
    ({"op": "subscribe", "channel": "inbox", "since": None, "params": None}, Subscribe(channel="inbox")),
    ({"op": "unsubscribe", "channel": "inbox"}, Unsubscribe(channel="inbox")),
    ({"op": "typing", "channel": CHANNEL}, Typing(channel=CHANNEL)),
    ({"op": "read", "channel": CHANNEL, "messageId": "m"}, Read(channel=CHANNEL, message_id="m")),
    (
        {"op": "send", "channel": CHANNEL, "data": {"content": '"content":":{\\"a":1,"a":2}'}},
        Send(channel=CHANNEL, data=MessageDraft(content='"content":":{\\"a":1,"a":2}')),
    ),
    (
        {"op": "send", "id": "op", "channel": CHANNEL, "data": {"content": "id", "clientMessageId": "id"}},
        Send(id="op", channel=CHANNEL, data=MessageDraft(content="id", client_message_id="id")),
    ),
    (
        {"op": "send", "id": 7, "channel": CHANNEL, "data": {"content": "hi", "clientMessageId": "c"}},
        Send(id=7, channel=CHANNEL, data=MessageDraft(content="hi", client_message_id="c")),
    ),
]


@pytest.mark.parametrize(("said", "command"), SAID, ids=lambda value: str(value)[:40])
def test_each_command_is_read_in_one_piece(said: object, command: object) -> None:
    assert COMMANDS.read(json.dumps(said).encode()) == command


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"hello",
        b"{",
        b"[]",
        b"null",
        b"42",
        b'"ping"',
        b'{"op":"ping"} {}',
        b'{"op":"ping","id":{}}',
        b'{"op":"ping","id":1.5}',
        b'{"op":"ping","id":true}',
        b'{"op":"ping","id":"' + b"x" * 65 + b'"}',
        b'{"op":"ping","id":9007199254740993}',
        b'{"op":"ping","a":' + b"[" * 40 + b"]" * 40 + b"}",
        b"[" * 60_000,
        b'{"op":"ping","a":NaN}',
        b'{"op":"ping\xff"}',
        b'{"op":"ping","op":"ping"}',
        b'{"op":"ping","id":1,"i\\u0064":2}',
        b'{"op":"ping","a":{"b":1,"c":[{"b":1},{"d":1,"d":2}]}}',
        b'{"op":"send","channel":"c","data":{"content":"a","content" : "b"}}',
        b'{"op":"send","channel":"c","data":{"content":"\\":","content":"b"}}',
    ],
)
def test_what_is_no_command_at_all_closes_the_socket(message: bytes) -> None:
    with pytest.raises(BadFrame):
        COMMANDS.read(message)


@pytest.mark.parametrize(
    ("said", "pointer", "code"),
    [
        ({}, "/op", "REQUIRED"),
        ({"op": 5}, "/op", "WRONG_TYPE"),
        ({"op": ["send"]}, "/op", "WRONG_TYPE"),
        ({"op": {"op": "send"}}, "/op", "WRONG_TYPE"),
        ({"op": "dance"}, "/op", "UNKNOWN_VALUE"),
        ({"op": "subscribe"}, "/channel", "REQUIRED"),
        ({"op": "subscribe", "channel": 5}, "/channel", "WRONG_TYPE"),
        ({"op": "subscribe", "channel": "x" * 201}, "/channel", "BAD_LENGTH"),
        ({"op": "subscribe", "channel": "inbox", "params": {"mode": "x"}}, "/params/mode", "UNKNOWN_VALUE"),
        ({"op": "subscribe", "channel": "inbox", "params": {"limit": "1"}}, "/params/limit", "WRONG_TYPE"),
        ({"op": "subscribe", "channel": "inbox", "since": {"epoch": "k"}}, "/since/offset", "REQUIRED"),
        (
            {"op": "subscribe", "channel": "inbox", "since": {"epoch": "k", "offset": -1}},
            "/since/offset",
            "OUT_OF_RANGE",
        ),
        ({"op": "read", "channel": CHANNEL}, "/messageId", "REQUIRED"),
        ({"op": "send", "channel": CHANNEL}, "/data", "REQUIRED"),
        ({"op": "send", "channel": CHANNEL, "data": []}, "/data", "WRONG_TYPE"),
        ({"op": "send", "channel": CHANNEL, "data": {"content": 1}}, "/content", "WRONG_TYPE"),
        ({"op": "send", "channel": CHANNEL, "data": {"content": "a\0b"}}, "/content", "BAD_TEXT"),
        (
            {"op": "send", "channel": CHANNEL, "data": {"poll": {"question": "?", "options": [{}]}}},
            "/poll/options/0/label",
            "REQUIRED",
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_what_is_no_valid_command_is_refused_with_a_pointer(said: object, pointer: str, code: str) -> None:
    message = {**said, "id": 3} if isinstance(said, dict) else said
    with pytest.raises(Misread) as misread:
        COMMANDS.read(msgspec.json.encode(message))
    assert misread.value.id == 3
    assert [(error.pointer, error.code) for error in misread.value.refused.errors] == [(pointer, code)]


@pytest.mark.parametrize(("value", "named"), [(None, "null"), ([], "array"), ({}, "object"), (5, "integer")])
def test_the_value_of_an_op_is_called_what_it_is_in_json(value: object, named: str) -> None:
    with pytest.raises(Misread) as misread:
        COMMANDS.read(msgspec.json.encode({"op": value}))
    assert [error.message for error in misread.value.refused.errors] == [f"expected string, got {named}"]


def test_a_broken_command_without_an_id_is_known_as_such() -> None:
    with pytest.raises(Misread) as misread:
        COMMANDS.read(b'{"op":"dance"}')
    assert misread.value.id is None


@pytest.mark.parametrize(
    "number", [b"9223372036854775808", b"-9223372036854775809", b"1e400", b"1" + b"0" * 30]
)
def test_no_number_out_of_range_is_more_than_a_refused_command(number: bytes) -> None:
    """To the socket such a number is a value like any other that does not fit, wherever it stands."""
    message = b'{"op":"subscribe","id":3,"channel":"inbox","since":{"epoch":"k","offset":%s}}' % number
    with pytest.raises(Misread) as misread:
        COMMANDS.read(message)
    assert misread.value.id == 3
    (error,) = misread.value.refused.errors
    assert (error.pointer, error.code) == ("/since/offset", "OUT_OF_RANGE")
    with pytest.raises(BadFrame):
        COMMANDS.read(b'{"op":"dance","id":%s}' % number)


def test_two_commands_of_one_op_are_refused() -> None:
    with pytest.raises(ValueError, match="one op"):
        Commands([LiveCommand(Ping, lambda _session, _command: None)])
