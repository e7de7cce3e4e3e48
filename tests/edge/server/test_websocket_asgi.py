"""WebSockets of plain ASGI applications on our server (ASGI 3, WebSocket with the denial response)."""

import pytest
import trio
import trio.testing
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope
from structlog.typing import EventDict

from routes.edge.server import websocket_asgi
from tests.edge.apps import Application
from tests.edge.raw import HANDSHAKE, raw
from tests.support.server import running
from tests.support.waiting import patience
from tests.support.websocket import Closed, Refused, connect


class Asked:
    """An application that does by its sockets what the path says; keeps the events of the last one.

    Attributes:
        events: what `receive` gave, in order.
        ended: the application is done with a socket.
    """

    def __init__(self) -> None:
        self.events: list[object] = []
        self.ended = trio.Event()
        self.cancelled = False
        self.go = trio.Event()
        self.scope: Scope | None = None

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] != "websocket":
            await Application()(scope, receive, send)
            return
        self.scope = scope
        try:
            await getattr(self, scope["path"][1:])(receive, send)
        except trio.Cancelled:
            self.cancelled = True
            raise
        finally:
            self.ended.set()

    async def echo(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        self.events.append(await receive())
        await send({"type": "websocket.accept", "subprotocol": "b", "headers": [(b"x-own", b"1")]})
        while True:
            event = await receive()
            self.events.append(event)
            if event["type"] != "websocket.receive":
                return
            await send({"type": "websocket.send", "text": event["text"], "bytes": event["bytes"]})

    async def closes(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})
        await send({"type": "websocket.close", "code": 4000, "reason": "enough"})
        await send({"type": "websocket.send", "text": "dropped", "bytes": None})
        self.events.append(await receive())

    async def accepts(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        await send({"type": "websocket.accept", "subprotocol": None, "headers": []})

    async def fails(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await self.accepts(receive, send)
        raise ValueError("the application is broken")

    async def fails_before(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        raise ValueError("the application is broken")

    async def refuses(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        await send({"type": "websocket.close", "code": 1000, "reason": None})

    async def denies(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        headers = [(b"content-type", b"text/plain"), (b"content-length", b"6")]
        await send({"type": "websocket.http.response.start", "status": 401, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": b"not ", "more_body": True})
        await send({"type": "websocket.http.response.body", "body": b"you", "more_body": False})
        self.events.append(await receive())

    async def confused(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await receive()
        await send({"type": "websocket.send", "text": "too early", "bytes": None})

    async def sleeps(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await self.accepts(receive, send)
        await trio.sleep_forever()

    async def hesitates(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await self.accepts(receive, send)
        await self.go.wait()
        while len(self.events) < 300:
            self.events.append(await receive())


async def test_messages_go_both_ways() -> None:
    app = Asked()
    async with running(app) as base_url:
        async with connect(base_url + "/echo?a=1", subprotocols=["a", "b"]) as client:
            assert (client.subprotocol, client.headers["x-own"]) == ("b", "1")
            await client.send_text("Grüße")
            await client.send_bytes(b"\x00\xff")
            assert [await client.receive(), await client.receive()] == ["Grüße", b"\x00\xff"]
            await client.ping()
            await client.wait_pong()
            assert (await client.close(4001, "bye")).code == 4001
        await app.ended.wait()
    assert app.events == [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "text": "Grüße", "bytes": None},
        {"type": "websocket.receive", "text": None, "bytes": b"\x00\xff"},
        {"type": "websocket.disconnect", "code": 4001},
    ]
    assert app.scope is not None
    assert app.scope["type"] == "websocket"
    assert (app.scope["subprotocols"], app.scope["query_string"]) == (["a", "b"], b"a=1")


@pytest.mark.parametrize(("path", "code"), [("closes", 4000), ("accepts", 1000), ("fails", 1011)])
async def test_how_the_application_ends(path: str, code: int, faults: list[EventDict]) -> None:
    app = Asked()
    async with running(app) as base_url, connect(f"{base_url}/{path}") as client:
        closed = await client.wait_closed()
        assert (closed.code, closed.reason) == (code, "enough" if path == "closes" else "")
    assert app.events == ([{"type": "websocket.disconnect", "code": 4000}] if path == "closes" else [])
    assert len(faults) == (1 if path == "fails" else 0)
    faults.clear()


@pytest.mark.parametrize(
    ("path", "status", "body"),
    [
        ("refuses", 403, b""),
        ("denies", 401, b"not you"),
        ("fails_before", 500, b""),
        ("confused", 500, b""),
    ],
)
async def test_how_the_application_refuses(
    path: str, status: int, body: bytes, faults: list[EventDict]
) -> None:
    app = Asked()
    async with running(app) as base_url:
        with pytest.raises(Refused) as refused:
            async with connect(f"{base_url}/{path}"):
                pass
        assert (refused.value.status, refused.value.body) == (status, body)
        async with raw(base_url) as connection:
            # What comes behind a refused handshake is thrown away, not answered with a reset.
            await connection.send(HANDSHAKE.replace(b"/live", b"/" + path.encode()) + b"\x00" * 1000)
            answered, headers, _ = await connection.read_response()
            assert (answered, headers["connection"]) == (status, "close")
            assert await connection.read_to_end() == b""
    assert len(faults) == (2 if status == 500 else 0)
    faults.clear()


async def test_a_client_that_goes_is_told_and_the_application_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """An application that does not listen is cancelled after a while."""
    monkeypatch.setattr(websocket_asgi, "ABANDON_SECONDS", 0.02)
    app = Asked()
    async with running(app) as base_url:
        async with connect(base_url + "/sleeps"):
            pass
        with patience():
            await app.ended.wait()
    assert app.cancelled


async def test_a_rule_that_the_client_breaks() -> None:
    app = Asked()
    async with running(app) as base_url, raw(base_url) as connection:
        await connection.send(HANDSHAKE.replace(b"/live", b"/echo") + b"\x81\x02hi")
        assert (await connection.read_response())[0] == 101
        answer = await connection.read_to_end()
        assert (answer[:1], answer[2:4]) == (b"\x88", b"\x03\xea")
    assert app.events[-1] == {"type": "websocket.disconnect", "code": 1002}


async def test_an_application_that_does_not_listen_holds_the_client_back() -> None:
    app = Asked()
    async with running(app) as base_url, connect(base_url + "/hesitates") as client:
        async with trio.open_nursery() as nursery:

            async def say() -> None:
                for number in range(300):
                    await client.send_text(str(number) * 3000)

            nursery.start_soon(say)
            await trio.testing.wait_all_tasks_blocked(0.01)
            app.go.set()
        with pytest.raises(Closed):
            await client.receive()
    assert [event["text"] for event in app.events] == [str(number) * 3000 for number in range(300)]  # type: ignore[index]
