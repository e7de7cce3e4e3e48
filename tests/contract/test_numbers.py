"""No number that a client sends is a fault: not in a body, not in a query, not in a message of a live socket."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import inspect

from actors.errors import Invalid
from routes import TABLE
from routes.domains import COMMANDS
from routes.edge.declare.query import ParameterForm
from routes.edge.declare.route import Endpoint
from routes.edge.errors import BadQuery, MalformedJson
from routes.edge.wire import decode
from routes.live.commands import BadFrame, Misread
from tests.support.one_world import in_one_world
from tests.support.world import Player, Room, World, world

__all__ = ["world"]


BEYOND = (b"9223372036854775808", b"-9223372036854775809", b"1" + b"0" * 30, b"1e400", b"-1e400")
"""Beyond what is stored, or beyond a double."""

EXTREME = (2**31, -(2**31) - 1, 2**53 - 1, -(2**53) + 1, 2**53, 2**63 - 1, -(2**63))
"""Beyond a column of 32 bits, beyond what JavaScript keeps, and the ends of 64."""

Path = tuple[str | int, ...]


def numbers_in(type_: Any, path: Path = (), seen: frozenset[type] = frozenset()) -> Iterator[Path]:
    """Where a struct takes a number."""
    match type_:
        case inspect.StructType(cls=cls, fields=fields) if cls not in seen:
            for field in fields:
                yield from numbers_in(field.type, (*path, field.encode_name), seen | {cls})
        case inspect.Metadata(type=inner):
            yield from numbers_in(inner, path, seen)
        case inspect.UnionType(types=types):
            for one in types:
                yield from numbers_in(one, path, seen)
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType():
            yield from numbers_in(type_.item_type, (*path, 0), seen)
        case inspect.DictType():
            yield from numbers_in(type_.value_type, (*path, "key"), seen)
        case inspect.IntType() | inspect.FloatType() | inspect.AnyType():
            yield path


def holding(path: Path, number: bytes) -> bytes:
    """JSON that has the number there, and nothing else."""
    if not path:
        return number
    inner = holding(path[1:], number)
    return b"[%b]" % inner if path[0] == 0 else b"{%b:%b}" % (msgspec.json.encode(path[0]), inner)


BODIES = [
    pytest.param(endpoint, path, id=f"{endpoint.line} {'/'.join(map(str, path))}")
    for endpoint in TABLE.endpoints
    if endpoint.shape is not None
    for path in sorted(set(numbers_in(inspect.type_info(endpoint.body))), key=str)
]


@pytest.mark.parametrize(("endpoint", "path"), BODIES)
def test_no_number_of_a_body_is_a_fault(endpoint: Endpoint, path: Path) -> None:
    assert endpoint.shape is not None
    pointer = "".join(f"/{step}" for step in path)
    for number in BEYOND:
        with pytest.raises(Invalid) as refused:
            decode(holding(path, number), endpoint.shape)
        assert [(one.pointer, one.code) for one in refused.value.errors] == [(pointer, "OUT_OF_RANGE")]
    with pytest.raises(MalformedJson):
        decode(holding(path, b"9" * 5_000), endpoint.shape)
    for extreme in EXTREME:
        try:
            decode(holding(path, b"%d" % extreme), endpoint.shape)
        except Invalid:
            continue


@pytest.mark.parametrize(
    "route", [one for one in (*TABLE.endpoints, *TABLE.streams) if one.query is not None]
)
def test_no_number_of_a_query_is_a_fault(route: Any) -> None:
    for field in route.query.fields.values():
        for number in (*BEYOND, b"9" * 5_000, *(b"%d" % extreme for extreme in EXTREME)):
            try:
                route.query.decode(field.wire.encode() + b"=" + number)
            except BadQuery as refused:
                assert refused.meta.get("parameter"), number


OPS = sorted({path for struct in COMMANDS.structs for path in numbers_in(inspect.type_info(struct))}, key=str)


@pytest.mark.parametrize("op", ["subscribe", "unsubscribe", "ping", "typing", "read", "send", "dance"])
def test_no_number_of_a_command_is_a_fault(op: str) -> None:
    assert ("since", "offset") in OPS
    for path in OPS:
        for number in (*BEYOND, b"9" * 5_000, *(b"%d" % extreme for extreme in EXTREME)):
            message = b'{"op":"%b",%b' % (op.encode(), holding(path, number)[1:])
            try:
                COMMANDS.read(message)
            except Misread as misread:
                assert misread.refused.errors
            except BadFrame as bad:
                assert path == ("id",) or len(number) > 4_300, (message, bad.reason)


AWAY = {"GEOIP_UNAVAILABLE", "UPSTREAM_UNAVAILABLE"}
"""What is said where something of others is missing, as here."""


def filled(route: Any, room: Room, player: Player) -> str:
    """The path with ids that exist as far as there are some."""
    known = {"conversationId": room.id, "userId": player.id}
    path = route.templates[0]
    for parameter in route.parameters:
        made = player.id if parameter.form is ParameterForm.UUID else room.id
        path = path.replace(f"{{{parameter.wire}}}", known.get(parameter.wire, made))
    return path


async def test_no_number_over_the_wire_is_a_fault(world: World) -> None:
    """With every right, and where somebody is at home: so that numbers come as far as the database."""
    root = await world.super_admin()
    room = await root.talk_to(await world.player("Ben"), kind="group")
    numbers = [*(number.decode() for number in BEYOND), *map(str, EXTREME)]
    asked = 0
    for endpoint in TABLE.endpoints:
        path = filled(endpoint, room, root)
        for field in endpoint.query.fields.values() if endpoint.query is not None else ():
            for number in numbers if endpoint.method == "GET" else ():
                response = await root.ask("GET", f"{path}?{field.wire}={number}")
                assert response.status_code < 500 or response.json()["code"] in AWAY, response.url
                asked += 1
        for where in (
            sorted(set(numbers_in(inspect.type_info(endpoint.body))), key=str) if endpoint.shape else ()
        ):
            for number in numbers:
                body = _with_what_is_required(endpoint, where, number)
                response = await root.ask(endpoint.method, path, content=body)
                assert response.status_code < 500, (endpoint.line, body)
                asked += 1
    assert asked > 500


def _with_what_is_required(endpoint: Endpoint, where: Path, number: str) -> bytes:
    """A body with a number in its place, and with plain values for the fields that must be there."""
    body = json.loads(holding(where, b'"\\u0001"'))
    for field in inspect.type_info(endpoint.body).fields:  # type: ignore[attr-defined]
        if field.required:
            body.setdefault(field.encode_name, _plain(field.type))
    return json.dumps(body).replace('"\\u0001"', number).encode()


def _plain(type_: Any) -> object:
    match type_:
        case inspect.Metadata(type=inner):
            return _plain(inner)
        case inspect.LiteralType(values=values):
            return values[0]
        case inspect.BoolType():
            return True
        case inspect.StrType():
            return "text"
        case inspect.IntType() | inspect.FloatType():
            return 1
        case inspect.DictType() | inspect.StructType() | inspect.RawType():
            return {}
        case inspect.UnionType(types=types):
            return _plain(types[0])
        case _:
            return []


@in_one_world("number", [number.decode() for number in BEYOND])
async def test_no_number_out_of_range_closes_a_socket(world: World, number: str) -> None:
    ann = await world.player("Ann")
    async with ann.live("/v1/social/live?channels=") as socket:
        await socket.receive_until(type="hello")
        await socket.send_text(
            '{"op":"subscribe","id":7,"channel":"inbox","since":{"epoch":"k","offset":NUMBER}}'.replace(
                "NUMBER", number
            )
        )
        reply = await socket.receive_until(type="reply")
        assert (reply["id"], reply["error"]["code"]) == (7, "VALIDATION_FAILED")
        assert reply["error"]["errors"][0]["pointer"] == "/since/offset"
        await socket.send_json({"op": "ping", "id": 8})
        await socket.receive_until(type="pong")
