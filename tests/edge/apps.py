"""Small ASGI applications for tests of the server alone."""

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, Scope

from actors.kernel.clock import Clock
from routes.edge.asgi_socket import SocketHandler, serve_socket
from routes.edge.sockets import Sockets


class FixedClock(Clock):
    """A clock that stands where it was put."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.at_ms = now_ms

    def now_ms(self) -> int:
        return self.at_ms


class Application:
    """Answers by path; each test adds the answers that it needs.

    Attributes:
        requests: (method, path, body) of everything that was answered.
    """

    def __init__(self, *, handler: SocketHandler | None = None, sockets: Sockets | None = None) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        self.go = trio.Event()
        self.arrived = trio.Event()
        self._handler = handler
        self._sockets = sockets
        self._number = 0

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            assert self._handler is not None
            assert self._sockets is not None
            await receive()
            self.arrived.set()
            if scope["path"] == "/later":
                await self.go.wait()
            if scope["path"] == "/refused":
                await _refuse(send)
                return
            self._number += 1
            await serve_socket(
                scope,
                receive,
                send,
                handler=self._handler,
                sockets=self._sockets,
                session_id=f"session-{self._number}",
                user_id=scope["query_string"].decode() or None,
                subprotocol=next(iter(scope["subprotocols"]), None),
            )
        else:
            await self._answer(scope["method"], scope["path"], receive, send)

    async def _answer(
        self, method: str, path: str, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        if path == "/unread":
            await respond(send, 401, b"no")
            return
        if path == "/boom":
            raise ValueError("the application is broken")
        body = await read_body(receive)
        self.requests.append((method, path, body))
        self.arrived.set()
        if path == "/later":
            await self.go.wait()
        if path == "/big":
            await respond(send, 200, b"x" * 8_000_000)
        elif path == "/streamed":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            for piece in (b"one", b"two", b"three"):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await respond(send, 200, b"%s %s %d" % (method.encode(), path.encode(), len(body)))


async def _lifespan(receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    await send({"type": "lifespan.shutdown.complete"})


async def _refuse(send: ASGISendCallable) -> None:
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", b"2")]
    await send({"type": "websocket.http.response.start", "status": 401, "headers": headers})
    await send({"type": "websocket.http.response.body", "body": b"{}", "more_body": False})


async def read_body(receive: ASGIReceiveCallable) -> bytes:
    """The whole body of a request, or what came of it before the client was gone."""
    body = b""
    while True:
        event = await receive()
        if event["type"] != "http.request":
            return body
        body += event["body"]
        if not event["more_body"]:
            return body


async def respond(send: ASGISendCallable, status: int, body: bytes) -> None:
    """A whole response."""
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
