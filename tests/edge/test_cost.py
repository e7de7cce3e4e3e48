"""What a stranger can make us spend: no body costs much more than an ordinary one of its size, on any route or socket,
and none is answered with much more than it has itself.

Times are CPU time of the thread, the least of several, and are compared with each other: what is looked for is not a
slow line, but a cost that grows with the square of something.
"""

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial

import msgspec
import pytest

from actors.errors import Invalid, Refused
from actors.field_errors import MAX_ERRORS
from actors.launcher.units_reports import REPORT_MAX_BYTES, names_in
from routes import TABLE
from routes.domains import COMMANDS
from routes.edge.declare.query import MAX_SEGMENT_CHARACTERS
from routes.edge.declare.route import Endpoint
from routes.edge.problems import problem
from routes.edge.strict_json import MAX_BYTES, parse
from routes.edge.websocket import frames
from routes.edge.wire import decode
from routes.live.commands import BadFrame, Misread
from tests.support.cost import least_seconds, without_collector
from tests.support.one_world import in_one_world
from tests.support.world import Player, World, world

pytestmark = pytest.mark.both_edges

__all__ = ["world"]

MARGIN = 40
"""Times what an ordinary body costs. The worst that is known costs seven times that in the parser, and ten times as a
message or in a route; what was cured, a thousand times."""

ENDPOINTS = [one for one in TABLE.endpoints if one.shape is not None]

SPARE_BYTES = 24 * 1024
"""What an answer may have beyond the bytes that it answers: a hundred errors, with 8 KiB of pointers."""

FRAME_BYTES = 65_536
UPLOAD_BYTES = 2 * 1024 * 1024


def within(start: bytes, unit: bytes, end: bytes, size: int) -> bytes:
    """A text of a size, filled with as many units as fit."""
    return start + unit * ((size - len(start) - len(end)) // len(unit)) + end


def ordinary(field: bytes, size: int) -> bytes:
    """What a diligent client would send."""
    item = b'{"id":"65f0a1b2c3d4e5f601020304","name":"Somebody","at":1700000000000},'
    return within(b'{"%b":[' % field, item, b"{}]}", size)


def unstorable_names(start: bytes, end: bytes, size: int) -> bytes:
    """A text of a size, filled with members whose names hold U+0000."""
    count = (size - len(start) - len(end)) // len(b'"\\u000012345":0,')
    return start + b",".join(b'"\\u0000%d":0' % n for n in range(count)) + end


Hostile = Callable[[bytes, int], bytes]

ATTACK = b"[" + b"[]," * 33 + b'"'

HOSTILE: dict[str, Hostile] = {
    "quotes escaped in a text without an end": lambda field, size: within(ATTACK, b'\\"', b"", size),
    "quotes alone": lambda field, size: within(b"", b'"', b"", size),
    "backslashes": lambda field, size: within(b'{"%b":"' % field, b"\\", b"", size),
    "escapes": lambda field, size: within(b'{"%b":"' % field, b"\\u00e9", b'"}', size),
    "escaped zeros, nearly": lambda field, size: within(b'{"%b":"' % field, b"\\u000", b'"}', size),
    "escaped zeros": lambda field, size: within(b'{"%b":["' % field, b'\\u0000","', b'"]}', size),
    "a long name over names with escaped zeros": lambda field, size: unstorable_names(
        b'{"%b":{"%b":{' % (field, b"A" * (size // 2)), b"}}}", size
    ),
    "long names with signs to escape over numbers out of range": lambda field, size: within(
        b'{"%b":{"%b":{"%b":[' % (field, b"~/" * 2_000, b"\\u0001" * 1_360), b"1e999,", b"0]}}}", size
    ),
    "names as deep as may be over escaped zeros": lambda field, size: within(
        b'{"%b":' % field + (b'{"%b":' % (b"\\u0001" * (size // 360))) * 28 + b"[",
        b'"\\u0000",',
        b"0]" + b"}" * 29,
        size,
    ),
    "brackets that open": lambda field, size: within(b"", b"[", b"", size),
    "brackets side by side": lambda field, size: within(b'{"%b":[' % field, b"[],", b"0]}", size),
    "brackets as deep as may be": lambda field, size: within(
        b'{"%b":[' % field, b"[" * 30 + b"]" * 30 + b",", b"0]}", size
    ),
    "objects side by side": lambda field, size: within(b'{"%b":[' % field, b"{},", b"0]}", size),
    "objects, and a number out of range": lambda field, size: within(
        b'{"%b":[' % field, b"{},", b"1e999]}", size
    ),
    "objects as many as may be, and small numbers": lambda field, size: within(
        b'{"%b":[' % field + b"{}," * (size // 17), b"1e-320,", b"1e999]}", size
    ),
    "many keys": lambda field, size: b"{%b}" % b",".join(b'"%x":0' % n for n in range(size // 9)),
    "one key many times": lambda field, size: within(b"{", b'"":0,', b'"":0}', size),
    "texts without anything": lambda field, size: within(b'{"%b":[' % field, b'"",', b"0]}", size),
    "long numbers": lambda field, size: within(b'{"%b":[' % field, b"9" * 4_300 + b",", b"0]}", size),
    "a longer number": lambda field, size: within(b'{"%b":' % field, b"9", b"}", size),
    "numbers of 18 digits": lambda field, size: within(b'{"%b":[' % field, b"1" * 18 + b",", b"0]}", size),
    "floats without normal form": lambda field, size: within(b'{"%b":[' % field, b"1e-320,", b"0]}", size),
    "floats of many digits": lambda field, size: within(
        b'{"%b":[' % field, b"1." + b"3" * 770 + b"e-300,", b"0]}", size
    ),
    "marks that combine": lambda field, size: within(
        b'{"%b":"a' % field, "\u0300\u0316".encode(), b'"}', size
    ),
    "base64": lambda field, size: within(b'{"%b":"' % field, b"0123456789ABCDEFabcdef+/", b'"}', size),
    "white space": lambda field, size: within(b'{"%b":0' % field, b" ", b"}", size),
}
"""{what it is made of: a body of about that size}."""


def said_to(work: Callable[[], object]) -> int:
    """How many bytes the answer has that refuses it; 0 where it is not refused."""
    try:
        work()
    except Refused as refused:
        return len(problem(refused, "r1").body)
    except BadFrame as bad:
        return len(bad.reason)
    except Misread as misread:
        refused = misread.refused
        return len(frames.reply_error(1, refused.code, refused.message, errors=refused.errors).wire)
    return 0


def answered(work: Callable[[], object]) -> None:
    """Do it, whatever the answer is."""
    with suppress(Refused, BadFrame, Misread):
        work()


def cost_of(work: Callable[[], object]) -> float:
    return least_seconds(partial(answered, work))


@pytest.fixture(scope="module", autouse=True)
def nothing_is_collected() -> Iterator[None]:
    with without_collector():
        yield


def first_field(endpoint: Endpoint) -> bytes:
    """The field that is looked at first; any, where a body is taken as it comes."""
    fields: tuple[str, ...] = getattr(endpoint.body, "__struct_encode_fields__", ("any",))
    return fields[0].encode()


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_text_at_the_limit_costs_more_than_its_length(kind: str) -> None:
    usual = cost_of(lambda: parse(ordinary(b"x", MAX_BYTES)))
    body = HOSTILE[kind](b"x", MAX_BYTES)
    assert cost_of(lambda: parse(body)) < MARGIN * usual
    assert said_to(lambda: refuse(body)) <= len(body) + SPARE_BYTES


def refuse(body: bytes) -> None:
    """Refuse a body for what the parser finds in it."""
    raise Invalid(*parse(body)[1])


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda one: one.line)
def test_no_body_of_any_route_costs_more_than_its_length(endpoint: Endpoint) -> None:
    shape = endpoint.shape
    assert shape is not None
    field, size = first_field(endpoint), 16 * 1024
    usual = cost_of(lambda: decode(ordinary(field, size), shape))
    for kind, hostile in HOSTILE.items():
        body = hostile(field, size)
        assert cost_of(partial(decode, body, shape)) < MARGIN * usual, kind
        assert said_to(partial(decode, body, shape)) <= len(body) + SPARE_BYTES, kind


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_report_of_a_launcher_costs_more_than_its_length_to_sort(kind: str) -> None:
    def sort(content: bytes) -> None:
        with suppress(msgspec.DecodeError):  # some of these are no JSON, and refused before
            names_in(content)

    usual = cost_of(partial(sort, ordinary(b"platform", REPORT_MAX_BYTES)))
    body = HOSTILE[kind](b"platform", REPORT_MAX_BYTES)
    assert cost_of(partial(sort, body)) < MARGIN * usual


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_message_of_a_socket_costs_more_than_its_length(kind: str) -> None:
    usual = cost_of(lambda: COMMANDS.read(ordinary(b"data", FRAME_BYTES)))
    body = HOSTILE[kind](b"data", FRAME_BYTES)
    assert cost_of(lambda: COMMANDS.read(body)) < MARGIN * usual
    assert said_to(lambda: COMMANDS.read(body)) <= len(body) + SPARE_BYTES


@pytest.mark.parametrize("kind", HOSTILE)
def test_no_upload_costs_more_than_its_length(kind: str) -> None:
    """Ordinary is a file in base64 here, so that the bound is a tight one: what is no file is refused by its size."""
    usual = cost_of(lambda: parse(HOSTILE["base64"](b"dataBase64", UPLOAD_BYTES)))
    body = HOSTILE[kind](b"dataBase64", UPLOAD_BYTES)
    assert cost_of(lambda: parse(body)) < MARGIN * usual
    assert said_to(lambda: refuse(body)) <= len(body) + SPARE_BYTES


def test_only_the_decoder_walks_a_file_in_base64() -> None:
    """A search for numbers that are too long took eighty times as long, a second for the largest file."""
    body = HOSTILE["base64"](b"dataBase64", UPLOAD_BYTES)
    assert cost_of(lambda: parse(body)) < 10 * cost_of(lambda: msgspec.json.decode(body))


def test_no_name_of_a_file_is_normalised_that_is_longer_than_names_are() -> None:
    """Putting 40,000 marks in order took two seconds, in which nobody was answered."""
    (endpoint,) = (one for one in ENDPOINTS if one.name == "upload_attachment")
    shape = endpoint.shape
    assert shape is not None
    marks = "a" + "\u0300\u0316" * 20_000
    with pytest.raises(Refused) as refused:
        decode(f'{{"fileName":"{marks}","contentType":"text/plain","dataBase64":"YQ=="}}'.encode(), shape)
    (error,) = refused.value.errors  # type: ignore[attr-defined]
    assert (error.pointer, error.code) == ("/fileName", "BAD_LENGTH")


QUERIES = {
    "parameters": b"a=1&" * 4_000,
    "parameters without anything": b"&" * 16_000,
    "escapes": b"a=" + b"%41" * 5_000,
    "escapes that are none": b"a=" + b"%" * 16_000,
    "names that are escaped": b"%61&" * 4_000,
    "plus signs": b"a=" + b"+" * 16_000,
    "digits": b"limit=" + b"9" * 16_000,
}


@pytest.mark.parametrize("kind", QUERIES)
def test_no_query_costs_more_than_its_length(kind: str) -> None:
    routes = [one for one in TABLE.endpoints if one.query is not None]
    for route in routes:
        assert route.query is not None
        usual = cost_of(partial(route.query.decode, b"&".join(b"name%d=value" % n for n in range(100))))
        assert cost_of(partial(route.query.decode, QUERIES[kind])) < MARGIN * usual, route.line
        assert said_to(partial(route.query.decode, QUERIES[kind])) <= SPARE_BYTES, route.line


def test_no_segment_of_a_path_is_looked_up_that_is_longer_than_names_are() -> None:
    for endpoint in TABLE.endpoints:
        for parameter in endpoint.parameters:
            assert parameter.parse("a" * (MAX_SEGMENT_CHARACTERS + 1)) is None


async def spent(work: Callable[[], Awaitable[None]]) -> float:
    """CPU time of the server, which runs in the thread of the test."""
    started = time.thread_time()
    await work()
    return time.thread_time() - started


async def test_no_stranger_stops_the_server_with_one_body(world: World) -> None:
    """16 KiB took three seconds, and 256 KiB would have taken minutes."""
    stranger = world.nobody()
    usual = min([await spent(partial(_set_up, stranger, ordinary(b"name", 32_000))) for _ in range(3)])
    for kind in ("quotes escaped in a text without an end", "quotes alone", "brackets as deep as may be"):
        body = HOSTILE[kind](b"name", 32_000)
        assert min([await spent(partial(_set_up, stranger, body)) for _ in range(3)]) < MARGIN * usual, kind


async def _set_up(stranger: Player, body: bytes) -> None:
    response = await stranger.ask("POST", "/v1/setup", content=body)
    assert 400 <= response.status_code < 500, response.text


@in_one_world("kind", [kind for kind in HOSTILE if "names" in kind])
async def test_no_stranger_is_sent_more_than_they_have_sent(world: World, kind: str) -> None:
    """An answer of 1.2 GB, for which 2.3 GB of memory were taken, was had for a body of 261 KB."""
    body = HOSTILE[kind](b"name", MAX_BYTES)
    response = await world.nobody().ask("POST", "/v1/setup", content=body)
    assert (response.status_code, len(response.json()["errors"])) == (422, MAX_ERRORS)
    assert len(response.content) <= SPARE_BYTES


@in_one_world("kind", [kind for kind in HOSTILE if "over" in kind and "zeros" in kind])
async def test_no_frame_is_answered_with_more_than_was_sent(world: World, kind: str) -> None:
    ann = await world.player("Ann")
    async with ann.live("/v1/social/live?channels=") as socket:
        await socket.receive_until(type="hello")
        start = b'{"op":"ping","id":7,'
        body = HOSTILE[kind](b"any", FRAME_BYTES - len(start))
        await socket.send_text((start + body[1:]).decode())
        reply = await socket.receive_json()
    assert (reply["id"], len(reply["error"]["errors"])) == (7, MAX_ERRORS)
    assert len(msgspec.json.encode(reply)) <= SPARE_BYTES
