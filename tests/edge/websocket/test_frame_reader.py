"""Frames of a client: what is read, what is refused, and that it does not matter how the bytes arrive."""

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wsproto.connection import Connection, ConnectionType
from wsproto.events import BytesMessage, CloseConnection, Message, Ping, Pong, TextMessage

from routes.edge.websocket.deflate import Inflater, compress
from routes.edge.websocket.frame_reader import (
    BAD_DATA,
    BINARY,
    CLOSE,
    CONTINUATION,
    PING,
    PONG,
    PROTOCOL_ERROR,
    TEXT,
    TOO_BIG,
    FrameReader,
)

MAX_BYTES = 65_536
MASK = b"\x12\x00\xff\x37"


def frame(opcode: int, payload: bytes = b"", *, fin: bool = True, rsv: int = 0, masked: bool = True) -> bytes:
    """A frame of a client, right or wrong."""
    length = len(payload)
    if length < 126:
        size = bytes((length,))
    else:
        size = b"\x7e" + length.to_bytes(2, "big") if length < 65_536 else b"\x7f" + length.to_bytes(8, "big")
    second = size[0] | (0x80 if masked else 0)
    body = bytes(byte ^ MASK[n % 4] for n, byte in enumerate(payload)) if masked else payload
    return bytes((opcode | rsv | (0x80 if fin else 0), second)) + size[1:] + (MASK if masked else b"") + body


def read(
    pieces: Iterable[bytes], *, inflater: Inflater | None = None
) -> tuple[list[tuple[int, bytes]], int | None]:
    """What a reader makes of these pieces: the messages, and the code it failed with."""
    reader = FrameReader(MAX_BYTES, inflater)
    messages = [message for piece in pieces for message in reader.feed(memoryview(piece))]
    return messages, None if reader.failed is None else reader.failed.code


@pytest.mark.parametrize("length", [0, 1, 125, 126, 127, 128, 65_535, 65_536])
@pytest.mark.parametrize("opcode", [TEXT, BINARY])
def test_payloads_of_every_length_form_are_read(opcode: int, length: int) -> None:
    payload = b"*" * length
    assert read([frame(opcode, payload)]) == ([(opcode, payload)], None)


EURO = "€".encode()

WRONG: list[tuple[str, bytes, int]] = [
    ("not masked", frame(TEXT, b"x", masked=False), PROTOCOL_ERROR),
    ("RSV1 without compression", frame(TEXT, b"x", rsv=0x40), PROTOCOL_ERROR),
    ("RSV2", frame(TEXT, b"x", rsv=0x20), PROTOCOL_ERROR),
    ("RSV3 on a ping", frame(PING, b"x", rsv=0x10), PROTOCOL_ERROR),
    *((f"opcode {opcode}", frame(opcode), PROTOCOL_ERROR) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)),
    ("fragmented ping", frame(PING, b"x", fin=False), PROTOCOL_ERROR),
    ("long ping", frame(PING, b"x" * 126), PROTOCOL_ERROR),
    ("continuation of nothing", frame(CONTINUATION, b"x"), PROTOCOL_ERROR),
    ("last continuation of nothing", frame(CONTINUATION, b"x", fin=False), PROTOCOL_ERROR),
    ("message within a message", frame(TEXT, b"x", fin=False) + frame(TEXT, b"y"), PROTOCOL_ERROR),
    ("16 bits for 5", b"\x81\xfe\x00\x05", PROTOCOL_ERROR),
    ("64 bits for 5", b"\x81\xff\x00\x00\x00\x00\x00\x00\x00\x05", PROTOCOL_ERROR),
    ("length with the highest bit", b"\x81\xff\x80\x00\x00\x00\x00\x01\x00\x00", PROTOCOL_ERROR),
    ("too big, by its header", frame(TEXT, b"x" * (MAX_BYTES + 1))[:10], TOO_BIG),
    (
        "too big, in fragments",
        frame(TEXT, b"x" * MAX_BYTES, fin=False) + frame(CONTINUATION, b"y")[:6],
        TOO_BIG,
    ),
    ("half a close code", frame(CLOSE, b"\x03"), PROTOCOL_ERROR),
    *(
        (f"close code {code}", frame(CLOSE, code.to_bytes(2, "big")), PROTOCOL_ERROR)
        for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535)
    ),
    ("a reason that is no text", frame(CLOSE, b"\x03\xe8\xff"), BAD_DATA),
    ("no text", frame(TEXT, b"\xff"), BAD_DATA),
    ("text that ends early", frame(TEXT, EURO[:2]), BAD_DATA),
    ("a surrogate", frame(TEXT, b"\xed\xa0\x80"), BAD_DATA),
    ("an overlong form", frame(TEXT, b"\xc0\xaf"), BAD_DATA),
    ("no text, over fragments", frame(TEXT, EURO[:1], fin=False) + frame(CONTINUATION, b"("), BAD_DATA),
    ("no text, before the frame is whole", frame(TEXT, b"ab\xf8" + b"z" * 90)[:10], BAD_DATA),
    ("no text, before the message is", frame(TEXT, b"\xff", fin=False), BAD_DATA),
]


@pytest.mark.parametrize(("wrong", "code"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_wrong_frame_ends_the_reading_with_its_close_code(wrong: bytes, code: int) -> None:
    before, after = frame(TEXT, b"before"), frame(TEXT, b"after")
    assert read([wrong]) == ([], code)
    assert read([bytes((byte,)) for byte in wrong]) == ([], code)
    assert read([wrong, after]) == ([], code)
    if not wrong.startswith(frame(TEXT, b"x", fin=False)):
        assert read([before + wrong + after]) == ([(TEXT, b"before")], code)


@pytest.mark.parametrize(
    "code", [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999]
)
def test_close_codes_that_may_be_sent_are_read(code: int) -> None:
    payload = code.to_bytes(2, "big") + EURO
    assert read([frame(CLOSE, payload)]) == ([(CLOSE, payload)], None)


def test_control_frames_come_between_fragments() -> None:
    stream = (
        frame(TEXT, EURO[:1], fin=False) + frame(PING, b"1") + frame(CONTINUATION, EURO[1:2], fin=False)
        + frame(PONG, b"2") + frame(CONTINUATION, EURO[2:]) + frame(CLOSE)
    )  # fmt: skip
    expected = [(PING, b"1"), (PONG, b"2"), (TEXT, EURO), (CLOSE, b"")]
    assert read([stream]) == (expected, None)


def test_an_idle_reader_holds_nothing() -> None:
    reader = FrameReader(MAX_BYTES)
    whole = frame(TEXT, b"x" * 1_000, fin=False) + frame(CONTINUATION, EURO)
    for byte in whole:
        reader.feed(bytes((byte,)))
    assert [getattr(reader, name) for name in ("_buffer", "_begun", "_decoder")] == [None, None, None]


def test_a_compressed_message_may_come_in_fragments() -> None:
    text = b"x" * 5_000
    packed = compress(text)
    stream = frame(TEXT, packed[:3], fin=False, rsv=0x40) + frame(PING) + frame(CONTINUATION, packed[3:])
    expected = [(PING, b""), (TEXT, text)]
    assert read([stream], inflater=Inflater()) == (expected, None)
    assert read([bytes((byte,)) for byte in stream], inflater=Inflater()) == (expected, None)


@pytest.mark.parametrize(
    ("stream", "code"),
    [
        (frame(TEXT, compress(b"x" * 1_000_000), rsv=0x40), TOO_BIG),
        (frame(TEXT, compress(b"\xff"), rsv=0x40), BAD_DATA),
        (frame(TEXT, b"\x07", rsv=0x40), BAD_DATA),
        (frame(PING, b"", rsv=0x40), PROTOCOL_ERROR),
        (frame(TEXT, b"", fin=False) + frame(CONTINUATION, b"", rsv=0x40), PROTOCOL_ERROR),
    ],
)
def test_compressed_messages_that_are_refused(stream: bytes, code: int) -> None:
    assert read([stream], inflater=Inflater()) == ([], code)


_events = st.lists(
    st.one_of(
        st.builds(TextMessage, st.text(max_size=300)),
        st.builds(BytesMessage, st.binary(max_size=300)),
        st.builds(Ping, st.binary(max_size=125)),
        st.builds(Pong, st.binary(max_size=125)),
    ),
    max_size=8,
)


def _expected(events: list[Message[str] | Message[bytes] | Ping | Pong]) -> list[tuple[int, bytes]]:
    expected = []
    for event in events:
        if isinstance(event, Ping | Pong):
            expected.append((PING if isinstance(event, Ping) else PONG, bytes(event.payload)))
        else:
            data = event.data
            expected.append((TEXT, data.encode()) if isinstance(data, str) else (BINARY, bytes(data)))
    return expected


@given(_events, st.lists(st.integers(0, 3_000), max_size=6))
def test_what_another_client_sends_in_any_pieces(
    events: list[Message[str] | Message[bytes] | Ping | Pong], cuts: list[int]
) -> None:
    client = Connection(ConnectionType.CLIENT)
    stream = b"".join(client.send(event) for event in [*events, CloseConnection(1000, "bye")])
    edges = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    pieces = [stream[start:end] for start, end in pairwise(edges)]
    assert read(pieces) == ([*_expected(events), (CLOSE, b"\x03\xe8bye")], None)


@given(st.binary(max_size=400), st.integers(0, 400), st.booleans())
def test_garbage_never_raises_and_pieces_do_not_matter(garbage: bytes, cut: int, compressed: bool) -> None:
    inflater = Inflater() if compressed else None
    whole = read([garbage], inflater=inflater)
    assert read([garbage[:cut], garbage[cut:]], inflater=inflater) == whole
    assert read([bytes((byte,)) for byte in garbage], inflater=inflater) == whole
