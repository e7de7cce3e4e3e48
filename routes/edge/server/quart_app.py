"""The Quart application: its ASGI classes pass requests for declared routes to the pipeline.

Declared routes are answered without Quart's request context, which is most of what a small request costs on stock
Quart; a rule added to the app by hand is served by Quart itself. A request that no rule matches gets a problem
document too. The application is plain ASGI: `hypercorn -k trio 'routes:create_app()'` serves all of it.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from functools import partial
from typing import NoReturn

import structlog
import trio
from hypercorn.typing import (
    ASGIReceiveCallable,
    ASGISendCallable,
    HTTPScope,
    WebsocketScope,
)
from quart_trio import QuartTrio
from quart_trio.asgi import TrioASGIHTTPConnection, TrioASGIWebsocketConnection

from actors.errors import Refused
from actors.kernel.room import Room
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Route, Stream
from routes.edge.declare.router import WEBSOCKET
from routes.edge.errors import CutShort, MethodNotAllowed, RouteNotFound, TooMuchUnread, WebsocketOnly
from routes.edge.incoming import Incoming
from routes.edge.outgoing import PIECE_BYTES, FileSlice, Outgoing, pieces
from routes.edge.pipeline.application import DirectApplication
from routes.edge.pipeline.dispatcher import Dispatcher
from routes.edge.pipeline.opening import Opening
from routes.edge.server.quart_rules import HOST, LateRule, declared_rules, matches, router_of
from routes.edge.tabs import Tab
from routes.edge.unsent import held_bytes
from routes.edge.websocket.bearer import bearer_of
from routes.edge.websocket.queued import STALL_SECONDS, serve_socket

log = structlog.get_logger()

HANDSHAKES = 200
"""WebSocket handshakes checked at once, so that requests are answered while all clients reconnect after a restart."""

Opened = Callable[[], AbstractAsyncContextManager[Dispatcher]]
"""Opens the pipeline and all that it needs, as long as the application serves."""


class EdgeApp(QuartTrio, DirectApplication):
    """The application; its ASGI classes and the lean server use the same `answer` and `open`.

    Args:
        table: the declared routes.
        opened: returns the pipeline's context manager, which is entered when serving starts and left when it ends.
    """

    url_rule_class = LateRule  # type: ignore[assignment]  # Quart declares it likewise

    def __init__(self, table: RouteTable, opened: Opened) -> None:
        super().__init__("routes", static_folder=None)
        self.asgi_http_class = EdgeHTTP
        self.asgi_websocket_class = EdgeWebsocket
        self.url_map.merge_slashes = False
        self._by_hand = self.url_map.bind(HOST)
        self.edge: Dispatcher | None = None
        self._handshakes = Room(HANDSHAKES)
        self._router = router_of(table)
        self._declared = declared_rules(table)

        @self.while_serving
        async def serving() -> AsyncGenerator[None, None]:
            async with opened() as edge:
                self.edge = edge
                yield
            self.edge = None

    def find(self, method: str, path: str) -> tuple[Route | None, dict[str, str]]:
        """The declared route of a request, with its path's parameters; (None, …) for a rule of Quart's own.

        Args:
            method: HTTP method, or `WEBSOCKET`.
            path: the decoded path.

        Raises:
            RouteNotFound: no rule has this path.
            MethodNotAllowed: rules have this path, for other methods, which its Allow header lists.
            WebsocketOnly: only a stream has this path.
        """
        return self._router.find(method, path) or self._searched(method, path)

    def _searched(self, method: str, path: str) -> tuple[Route | None, dict[str, str]]:
        if path.startswith("//"):
            # Werkzeug would drop the first slash, and a proxy's rule for the path would not have seen it.
            raise RouteNotFound
        try:
            return self._declared.match(method, path)
        except (RouteNotFound, MethodNotAllowed, WebsocketOnly):
            if not matches(self._by_hand, method, path):
                raise
            return None, {}

    async def answer(self, incoming: Incoming) -> Outgoing | None:
        """The response to a request; None for a rule of Quart's own, which has to go through ASGI.

        Cancellation abandons the request; an effect in flight goes on.
        """
        edge = self.edge or self._not_serving()
        try:
            route, parameters = self.find(incoming.method, incoming.path)
        except MethodNotAllowed as refused:
            if incoming.method == "OPTIONS":
                return edge.preflight(incoming, refused.headers["allow"])
            return edge.refuse(incoming, refused)
        except (RouteNotFound, WebsocketOnly) as refused:
            return edge.refuse(incoming, refused)
        if not isinstance(route, Endpoint):
            return None
        incoming.parameters = parameters
        return await edge.answer(route, incoming)

    def tab(self, incoming: Incoming) -> Tab:
        """The account of unsent bytes for the client of an ASGI request."""
        edge = self.edge or self._not_serving()
        return edge.tab(incoming.peer)

    def unread(self, incoming: Incoming) -> Outgoing:
        """The 503 for a client that has too many bytes unread; counts it."""
        edge = self.edge or self._not_serving()
        edge.service.unsent.refused += 1
        return edge.refuse(incoming, TooMuchUnread())

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that the server itself refuses."""
        edge = self.edge or self._not_serving()
        return edge.refuse(incoming, refused)

    async def open(self, incoming: Incoming) -> Outgoing | Opening | None:
        """Check a WebSocket handshake: a refusal, the accepted stream, or None for a rule of Quart's own. Where there
        is no stream it is a 404, also on the path of a request (RFC 6455 §4.2.2: the service is not available).

        At most `HANDSHAKES` are checked at once, others wait. Cancellation abandons the handshake.
        """
        edge = self.edge or self._not_serving()
        try:
            route, parameters = self.find(WEBSOCKET, incoming.path)
        except (RouteNotFound, MethodNotAllowed):
            return edge.refuse(incoming, RouteNotFound())
        if not isinstance(route, Stream):
            return None
        incoming.parameters = parameters
        async with self._handshakes:
            return await edge.open(route, incoming)

    def _not_serving(self) -> NoReturn:
        raise RuntimeError("a request came in before the lifespan's start-up or after its shutdown")


class EdgeHTTP(TrioASGIHTTPConnection):
    """The ASGI connection of one request: answered by the pipeline if declared, else by Quart."""

    app: EdgeApp
    scope: HTTPScope

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer the request. Cancellation leaves the response incomplete."""
        incoming = _incoming(self.scope, receive)
        tab = self.app.tab(incoming)
        outgoing = self.app.unread(incoming) if tab.spent else await self.app.answer(incoming)
        if outgoing is None:
            await super().__call__(receive, send)
            return
        held = _held_by(outgoing)
        if held > PIECE_BYTES and incoming.method == "GET" and not tab.fits(held):
            outgoing, held = self.app.unread(incoming), 0
        with tab.holding(held):
            await send_response(send, outgoing)


class EdgeWebsocket(TrioASGIWebsocketConnection):
    """The ASGI connection of one WebSocket, from its handshake on."""

    app: EdgeApp

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Refuse the handshake, or serve the socket until it is closed. Cancellation ends it without a close frame."""
        opening = await self.app.open(_incoming(self.scope, receive))
        if opening is None:
            await super().__call__(receive, send)
            return
        await receive()  # websocket.connect, which is always the first event
        if isinstance(opening, Outgoing):
            await _deny(self.scope, send, opening)
            return
        call = opening.call
        await serve_socket(
            receive,
            send,
            handler=opening.run,
            sockets=call.service.sockets,
            report=partial(_report, call.request_id, self.scope["path"]),
            session_id=opening.session_id,
            bearer=bearer_of(call.principal),
            subprotocol=opening.subprotocol,
            headers=opening.headers,
        )


def _report(request_id: str, path: str, fault: BaseException) -> None:
    log.error("stream failed", request_id=request_id, path=path, exc_info=fault)


class _Client:
    """The client of an ASGI request; implements `FarEnd`.

    Args:
        receive: ASGI's `receive`.

    Attributes:
        is_gone: whether the client is known to have gone; found out while the body is received, and by `until_gone`.
    """

    __slots__ = ("_receive", "is_gone")

    def __init__(self, receive: ASGIReceiveCallable) -> None:
        self._receive = receive
        self.is_gone = False

    async def next_piece(self) -> tuple[bytes, bool]:
        """The next piece of the body, and whether more follows (`Receive`). Cancellation loses nothing."""
        message = await self._receive()
        if message["type"] != "http.request":
            self.is_gone = True
            raise CutShort
        return message.get("body", b""), message.get("more_body", False)

    async def until_gone(self) -> None:
        """Return once the client has gone (`FarEnd`). Cancellation changes nothing."""
        with suppress(CutShort):
            while True:
                await self.next_piece()


def _incoming(scope: HTTPScope | WebsocketScope, receive: ASGIReceiveCallable) -> Incoming:
    asker = _Client(receive)
    client = scope.get("client")
    return Incoming(
        scope["method"] if scope["type"] == "http" else "GET",
        scope["path"],
        {},
        query=scope["query_string"],
        headers=list(scope["headers"]),
        peer=client[0] if client else "",
        receive=asker.next_piece,
        far_end=asker,
    )


def _held_by(outgoing: Outgoing) -> int:
    """Memory that a response takes while it is sent over ASGI.

    Of what lives anyway, and of files, that is one piece as it is passed on and as the server frames it.
    """
    own = held_bytes(outgoing.body) if isinstance(outgoing.body, bytes) else 0
    return max(own, min(outgoing.length_bytes, 2 * PIECE_BYTES))


async def send_response(send: ASGISendCallable, outgoing: Outgoing) -> None:
    """Send a response over ASGI, piece by piece; stops early if the client takes none for `STALL_SECONDS`.

    Cancellation leaves it incomplete.

    Args:
        send: ASGI's `send`.
        outgoing: the pipeline's response.
    """
    await send({"type": "http.response.start", "status": outgoing.status, "headers": outgoing.headers})
    body = outgoing.body
    if isinstance(body, FileSlice):
        async with aclosing(pieces(body)) as read:
            async for piece in read:
                if not await _send_in_time(send, piece, more=True):
                    return
        body = b""
    # Sent in pieces, because servers copy what they encrypt or frame.
    last = (len(body) - 1) // PIECE_BYTES * PIECE_BYTES
    for start in range(0, last, PIECE_BYTES):
        if not await _send_in_time(send, body[start : start + PIECE_BYTES], more=True):
            return
    await _send_in_time(send, body[max(0, last) :], more=False)


async def _send_in_time(send: ASGISendCallable, piece: bytes, *, more: bool) -> bool:
    """Send a piece of a body; False when the client does not take it, and the response has to end there."""
    with trio.move_on_after(STALL_SECONDS) as patience:
        await send({"type": "http.response.body", "body": piece, "more_body": more})
    return not patience.cancelled_caught


async def _deny(scope: WebsocketScope, send: ASGISendCallable, outgoing: Outgoing) -> None:
    """Refuse the upgrade with a response if the server supports it (ASGI, WebSocket Denial Response), else by a
    close.
    """
    if "websocket.http.response" not in (scope.get("extensions") or {}):
        await send({"type": "websocket.close", "code": 1008, "reason": None})
        return
    await send(
        {
            "type": "websocket.http.response.start",
            "status": outgoing.status,
            "headers": outgoing.headers,
        }
    )
    body = outgoing.body if isinstance(outgoing.body, bytes) else b""
    await send({"type": "websocket.http.response.body", "body": body, "more_body": False})
