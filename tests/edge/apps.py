"""Small applications for tests of the server alone."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import structlog
import trio
from hypercorn.typing import ASGIFramework, ASGIReceiveCallable, ASGISendCallable, Scope

from actors.errors import Refused
from actors.ids import UserId, Uuid
from routes.edge.deadline import Deadline
from routes.edge.declare.mounts import RouteTable
from routes.edge.incoming import Incoming
from routes.edge.listener import Listener
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.application import DirectApplication
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.opening import Opening
from routes.edge.principal import UserPrincipal
from routes.edge.problems import problem
from routes.edge.transport.handshake import offered_subprotocols
from routes.edge.unsent import SharedBytes
from routes.edge.websocket.bearer import Bearer
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.queued import serve_socket
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket, SocketHandler
from tests.edge.parts import user

if TYPE_CHECKING:
    from routes.service import Service


LARGE_BYTES = 8 * 1024 * 1024
"""Of a response: more than the system takes off us for a client that reads nothing."""

OURS = SharedBytes(bytes(LARGE_BYTES))


log = structlog.get_logger()


class FixedClock:
    """A clock that stands where it was put."""

    def __init__(self, now_ms: int = 1_700_000_000_000) -> None:
        self.at_ms = now_ms

    def now_ms(self) -> int:
        return self.at_ms


class Echo:
    """Sends back what comes, as JSON strings; implements `Listener`."""

    def __init__(self, socket: LiveSocket) -> None:
        self._socket = socket

    def heard(self, message: bytes) -> None:
        self._socket.send_nowait(prepare(message.decode()))


async def echo(socket: LiveSocket) -> Echo:
    """A handler that sends back what comes."""
    return Echo(socket)


@dataclass(frozen=True)
class Parts:
    """What a stream needs of a service to be opened."""

    sockets: Sockets


def named(name: str) -> UserPrincipal:
    """A user whose id is this name."""
    return replace(user(1), user_id=UserId(Uuid(name)), expires_at_ms=1 << 60)


def plain(app: ASGIFramework) -> ASGIFramework:
    """The same application as one that can only be asked by ASGI."""

    async def asked(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        await app(scope, receive, send)

    return asked


def report(fault: BaseException) -> None:
    """Log a fault as the server does."""
    log.error("connection failed", exc_info=fault)


class Application(DirectApplication):
    """Answers by path; each test adds the answers that it needs.

    Requests go the long way, through ASGI. WebSockets go the short way where the server knows it, and are the user of
    whoever the query names.

    Attributes:
        requests: (method, path, body) of everything that was answered.
        made: large bodies that were made for one client alone.
    """

    def __init__(
        self, *, handler: SocketHandler | None = None, sockets: Sockets | None = None, greets: bool = False
    ) -> None:
        self.requests: list[tuple[str, str, bytes]] = []
        self.go = trio.Event()
        self.arrived = trio.Event()
        self._handler = handler
        self._sockets = sockets
        self._greets = greets
        self._number = self.made = 0

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """As plain ASGI."""
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "websocket":
            await receive()
            if not await self._admits(scope["path"]):
                await _refuse(send)
                return
            assert self._handler is not None
            assert self._sockets is not None
            await serve_socket(
                receive,
                send,
                handler=self._handler,
                sockets=self._sockets,
                report=report,
                session_id=self._session(),
                bearer=Bearer(scope["query_string"].decode() or None),
                subprotocol=next(iter(scope["subprotocols"]), None),
            )
        else:
            await self._answer(scope["method"], scope["path"], receive, send)

    async def answer(self, incoming: Incoming) -> Outgoing | None:
        """Nothing, by ASGI; but what is large and one's own, or everybody's, is answered at once."""
        body = {"/mine": self._mine, "/ours": lambda: OURS}.get(incoming.path)
        if body is None:
            return None
        return Outgoing(200, [(b"content-length", b"%d" % LARGE_BYTES)], body())

    def _mine(self) -> bytes:
        self.made += 1
        return bytes(LARGE_BYTES)

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """A problem document."""
        outgoing = problem(refused, "r")
        outgoing.headers.append((b"content-length", b"%d" % outgoing.length_bytes))
        return outgoing

    async def open(self, incoming: Incoming) -> Outgoing | Opening | None:
        """The handler's stream."""
        if not await self._admits(incoming.path):
            headers = [(b"content-type", b"application/problem+json"), (b"content-length", b"2")]
            return Outgoing(401, headers, b"{}")
        assert self._sockets is not None
        service = cast("Service", Parts(self._sockets))
        call = Call(
            service, RouteTable((), ()), "r", "", [], status=101, now_ms=0, deadline=Deadline(math.inf)
        )
        if incoming.query:
            call.principal = named(incoming.query.decode())
        return Opening(
            call=call,
            session_id=self._session(),
            subprotocol=next(iter(offered_subprotocols(incoming.headers)), None),
            headers=[(b"x-request-id", b"r")],
            handler=self._open,
            arguments={},
            greets=self._greets,
        )

    async def _open(self, call: Call, socket: LiveSocket) -> Listener | None:
        assert self._handler is not None
        return await self._handler(socket)

    async def _admits(self, path: str) -> bool:
        self.arrived.set()
        if path == "/later":
            await self.go.wait()
        return path != "/refused"

    def _session(self) -> str:
        self._number += 1
        return f"{self._number:024x}"

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
