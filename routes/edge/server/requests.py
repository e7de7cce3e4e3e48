"""Answers the requests of a cleartext connection, one after the other, in the connection's one task.

request     first                                     otherwise
ordinary    `DirectApplication.answer` → Outgoing     ASGI, in this task
handshake   `DirectApplication.open` → Opening        ASGI, in this task
            → the socket is handed over
"""

from typing import Protocol

from routes.edge.errors import EdgeRefused, Internal, TooMuchUnread
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.application import DirectApplication
from routes.edge.pipeline.opening import Opening
from routes.edge.server.asgi import AsgiExchange, websocket_scope
from routes.edge.server.exchange import Client, Exchange, send_outgoing
from routes.edge.server.handover import Handover, Swept
from routes.edge.server.request import Request
from routes.edge.server.shared import Shared
from routes.edge.server.upgrade import take_over
from routes.edge.server.websocket_asgi import serve_by_asgi
from routes.edge.transport.handshake import handshake_refusal
from routes.edge.transport.refusals import raw


class RequestSource(Client, Protocol):
    """A connection that speaks HTTP, as a source of requests."""

    @property
    def refused(self) -> EdgeRefused | None:
        """The error after which no more requests come, which is to be sent to the client; or None."""
        ...

    async def next_request(self) -> Request | None:
        """Wait for the next request; None when no more come. Cancellation loses none."""
        ...

    def handover(self, request: Request) -> Handover:
        """The connection's parts, for the WebSocket that takes its place."""
        ...

    def taken(self, by: Swept) -> None:
        """Give the socket to another protocol's connection object, which owns it from now on.

        Args:
            by: the new owner.
        """
        ...

    def begin_close(self) -> None:
        """Send what waits, and close."""
        ...


class Requests:
    """Answers the requests of one connection.

    Args:
        connection: the source of the requests.
        shared: what all cleartext connections of the server share.
    """

    __slots__ = ("_connection", "_exchange", "_shared")

    def __init__(self, connection: RequestSource, shared: Shared) -> None:
        self._connection = connection
        self._shared = shared
        self._exchange: Exchange | None = None

    async def run(self) -> None:
        """Answer requests until the connection ends or is handed over.

        Raises what the application raises. Cancellation may leave a response incomplete. `conclude` has to follow
        either.
        """
        connection = self._connection
        while (request := await connection.next_request()) is not None:
            if request.websocket:
                await self._open_socket(request)
                return
            exchange = await self._answer(request)
            connection.answering = False
            if exchange.last:
                return
            self._exchange = None
        if connection.refused is not None:
            connection.writer.write(raw(connection.refused))

    def conclude(self) -> None:
        """End the connection: send a refusal or a 500 if a request has no response yet, and close."""
        exchange, connection = self._exchange, self._connection
        if exchange is not None and not exchange.started:
            connection.writer.write(raw(connection.refused or Internal()))
        connection.begin_close()

    async def _answer(self, request: Request) -> Exchange:
        shared, connection = self._shared, self._connection
        if shared.direct is not None:
            exchange = self._exchange = Exchange(connection, request)
            whole = request.take_body() if request.complete else None
            incoming = self._incoming(request, exchange, whole)
            if not connection.writer.tab.spent:
                outgoing = await shared.direct.answer(incoming)
            else:
                outgoing = self._unread(shared.direct, incoming)
            if outgoing is not None:
                if not await send_outgoing(exchange, outgoing):
                    await send_outgoing(exchange, self._unread(shared.direct, incoming))
                return exchange
            if whole:
                request.pieces.append(whole)
        through = self._exchange = AsgiExchange(connection, request)
        await through.run(shared.app)
        if not through.ended:
            through.last = True  # closing an incomplete response tells the client of the error
        return through

    async def _open_socket(self, request: Request) -> None:
        shared, connection = self._shared, self._connection
        refused = handshake_refusal(request.version, request.headers)
        if refused is not None:
            connection.writer.write(raw(refused))
            return
        # Bytes that are not HTTP may follow the handshake, so any response but 101 ends the connection.
        request.persistent = False
        exchange = self._exchange = Exchange(connection, request)
        opening: Outgoing | Opening | None = None
        if shared.direct is not None:
            incoming = self._incoming(request, exchange, b"")
            if connection.writer.tab.spent:
                opening = self._unread(shared.direct, incoming)
            else:
                opening = await shared.direct.open(incoming)
        if connection.ending:
            self._exchange = None  # the client is gone: no error to report
            return
        if opening is None:
            scope = websocket_scope(connection, request)
            await serve_by_asgi(connection.handover(request), shared.app, scope, taken=connection.taken)
        elif isinstance(opening, Opening):
            await take_over(connection.handover(request), opening, taken=connection.taken)
        else:
            await send_outgoing(exchange, opening)

    def _unread(self, direct: DirectApplication, incoming: Incoming) -> Outgoing:
        self._shared.settings.unsent.refused += 1
        return direct.refuse(incoming, TooMuchUnread())

    def _incoming(self, request: Request, exchange: Exchange, whole: bytes | None) -> Incoming:
        client = self._connection.client
        return Incoming(
            request.method,
            request.path,
            {},
            query=request.query,
            headers=request.headers,
            peer=client[0] if client is not None else "",
            receive=exchange.receive,
            whole=whole,
            far_end=exchange,
        )
