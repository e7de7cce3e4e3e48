"""The same requests to our server and to stock Hypercorn: same status, same body, same end, or a written reason.

Ours is asked twice, with an application that can be asked directly and with one that is plain ASGI.
"""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, Scope

from actors.errors import Refused
from routes.edge.errors import CutShort
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.application import DirectApplication
from routes.edge.pipeline.opening import Opening
from tests.edge.apps import plain, respond
from tests.edge.differential import bodies, connections, heads
from tests.edge.differential.case import Case
from tests.edge.differential.differences import DIFFERENCES, difference
from tests.edge.raw import Raw, raw
from tests.support.server import Edge, running

GROUPS = {
    "message": heads.MESSAGE,
    "request line": heads.REQUEST_LINE,
    "target": heads.TARGET,
    "fields": heads.FIELDS,
    "length": bodies.LENGTH,
    "chunks": bodies.CHUNKS,
    "connection": connections.CONNECTION,
    "otherwise": connections.OTHERWISE,
}

PROBE = b"GET /probe HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n"

AT_ONCE = 8

BODY_MAX_BYTES = 1 << 20


class Mirror(DirectApplication):
    """Answers with what it understood."""

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """As plain ASGI."""
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1000, "reason": ""})
        elif scope["path"] == "/streamed":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for piece in (b"one", b"two", b""):
                await send({"type": "http.response.body", "body": piece, "more_body": bool(piece)})
        elif scope["path"] == "/nothing":
            await send({"type": "http.response.start", "status": 204, "headers": []})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            body = b"" if scope["path"] == "/unread" else await whole_body(receive)
            if body is None:
                return
            headers = list(scope["headers"])
            await respond(
                send, 200, seen(scope["method"], scope["path"], scope["query_string"], headers, body)
            )

    async def answer(self, incoming: Incoming) -> Outgoing | None:
        """The same, asked directly."""
        if incoming.path == "/streamed":
            return None
        if incoming.path == "/nothing":
            return Outgoing(204, [])
        body = b""
        if incoming.path != "/unread":
            try:
                body = await incoming.body(BODY_MAX_BYTES) if incoming.whole is None else incoming.whole
            except CutShort:
                return Outgoing(400, [])
        text = seen(incoming.method, incoming.path, incoming.query, incoming.headers, body)
        length = (b"content-length", b"%d" % len(text))
        return Outgoing(200, [length], b"" if incoming.method == "HEAD" else text)

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """Never asked for: nothing here is large."""
        raise AssertionError(refused)

    async def open(self, incoming: Incoming) -> Outgoing | Opening | None:
        """By ASGI."""
        return None


async def whole_body(receive: ASGIReceiveCallable) -> bytes | None:
    body = b""
    while (event := await receive())["type"] == "http.request":
        body += event["body"]
        if not event["more_body"]:
            return body
    return None


def seen(method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    shown = [text.decode("latin-1") for name, text in headers if name in {b"host", b"x-seen"}]
    return json.dumps([method, path, query.decode("latin-1"), shown, len(body), body[:20].decode()]).encode()


@dataclass(frozen=True)
class Found:
    """What became of a case.

    Args:
        outcome: as it is written there.
        bodies: of the responses that are no refusals.
    """

    outcome: str
    bodies: list[bytes]


async def exchange(base_url: str, case: Case) -> Found:
    """Send a case, and then a request that shows whether the connection is still there."""
    async with raw(base_url) as connection:
        statuses, bodies = [], []
        async for status, body in responses(connection, case):
            statuses.append(status)
            if status < 400:
                bodies.append(body)
    end = "ends"
    if bodies and b'"/probe"' in bodies[-1]:
        del statuses[-1], bodies[-1]
        end = "stays"
    return Found(" ".join([*map(str, statuses), end]), bodies)


async def responses(connection: Raw, case: Case) -> AsyncIterator[tuple[int, bytes]]:
    """Every response until the server ends; behind the case goes a request that asks for the end."""
    bodiless = case.pieces[0].startswith(b"HEAD")
    pieces = list(case.pieces)
    if not case.unfinished:
        pieces.append(PROBE)
    try:
        await connection.send(pieces.pop(0))
        if case.unfinished:
            await connection.stream.send_eof()
        while True:
            status, _, body = await connection.read_response(bodiless=bodiless)
            yield status, body
            bodiless = False
            if pieces:
                await connection.send(pieces.pop(0))
    except (EOFError, trio.BrokenResourceError):
        return


async def outcomes(app: ASGIFramework, edge: Edge, cases: list[Case]) -> dict[str, Found]:
    """What becomes of every case."""
    found: dict[str, Found] = {}
    limiter = trio.CapacityLimiter(AT_ONCE)

    async def one(case: Case) -> None:
        async with limiter:
            found[case.name] = await exchange(base_url, case)

    async with running(app, edge=edge) as base_url, trio.open_nursery() as nursery:
        for case in cases:
            nursery.start_soon(one, case)
    return {case.name: found[case.name] for case in cases}


@pytest.mark.parametrize("group", GROUPS)
async def test_the_same_as_stock(group: str) -> None:
    cases = GROUPS[group]
    asked = [case for case in cases if (known := difference(case.name)) is None or known.stock is not None]
    stock = await outcomes(Mirror(), "stock", asked)
    for app in (Mirror(), plain(Mirror())):
        lean = await outcomes(app, "lean", cases)
        for case in cases:
            assert lean[case.name].outcome == case.outcome, case
        for case in asked:
            known = difference(case.name)
            assert stock[case.name].outcome == (case.outcome if known is None else known.stock), case
            if known is None and "absolute form" not in case.name:
                assert lean[case.name].bodies == stock[case.name].bodies, case


async def test_the_target_in_absolute_form_is_taken_apart() -> None:
    """RFC 9112 §3.2.2. Stock passes the URL on as a path, and leaves Host as it came."""
    cases = [case for case in heads.TARGET if case.name.startswith("absolute form")]
    lean = await outcomes(Mirror(), "lean", cases)
    assert [json.loads(body)[1:4] for found in lean.values() for body in found.bodies] == [
        ["/x", "y", ["t"]],
        ["/x", "", ["other:1"]],
        ["/", "", ["t"]],
        ["/", "y", ["t"]],
        ["/", "y/z", ["t"]],
    ]


def test_names_are_unique_and_differences_name_them() -> None:
    """Names are unique, and every difference is one of a row."""
    names = [case.name for cases in GROUPS.values() for case in cases]
    assert len(set(names)) == len(names)
    known = {*names, *(name.partition(": ")[0] for name in names)}
    assert {name for one in DIFFERENCES for name in one.names} <= known
    assert len(names) >= 200
