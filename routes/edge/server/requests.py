"""What a cleartext connection does with its requests, one after the other: ask the application, and answer.

    request     first way                                 else
    ordinary    `DirectApplication.answer` → Outgoing     ASGI, in this task
    handshake   `DirectApplication.open` → Opening        ASGI, in this task
                → the socket is handed over

Everything here runs in the connection's one task.
"""

from typing import Protocol

from routes.edge.errors import EdgeRefused, Internal, TooMuchUnread
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.application import DirectApplication
from routes.edge.pipeline.dispatch import Opening
from routes.edge.server.asgi import AsgiExchange, websocket_scope
from routes.edge.server.exchange import Client, Exchange, send_outgoing
from routes.edge.server.handover import Handover, Swept
from routes.edge.server.parser import Request
from routes.edge.server.shared import Shared
from routes.edge.server.websocket import take_over
from routes.edge.server.websocket_asgi import serve_by_asgi
from routes.edge.transport.handshake import handshake_refusal
from routes.edge.transport.refusals import raw


class RequestSource(Client, Protocol):
    """What brings requests: a connection that speaks HTTP."""

    @property
    def refused(self) -> EdgeRefused | None:
        """Why no more requests come, where the client is to be told."""
        ...

    @property
    def ending(self) -> bool:
        """The client is gone, or the connection is being closed."""
        ...

    async def next_request(self) -> Request | None:
        """Wait for the next request; None when no more come.

        Cancellation loses nothing that has come.
        """
        ...

    def handover(self, request: Request) -> Handover:
        """Stop reading, for another protocol to go on with the socket."""
        ...

    def taken(self, by: Swept) -> None:
        """Another protocol has the socket now."""
        ...

    def begin_close(self) -> None:
        """Send what waits, and close."""
        ...


class Requests:
    """The requests of one connection.

    Args:
        connection: where they come from.
        shared: of the server.
    """

    __slots__ = ("_connection", "_exchange", "_shared")

    def __init__(self, connection: RequestSource, shared: Shared) -> None:
        self._connection = connection
        self._shared = shared
        self._exchange: Exchange | None = None

    async def run(self) -> None:
        """Answer until the connection ends or is handed over. Raises what the application raises.

        Cancellation abandons the request under way.
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
        """The task is at its end: say what went wrong where nothing was said yet, and close."""
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
            through.last = True  # what is missing tells the client that something went wrong
        return through

    async def _open_socket(self, request: Request) -> None:
        shared, connection = self._shared, self._connection
        refused = handshake_refusal(request.version, request.headers)
        if refused is not None:
            connection.writer.write(raw(refused))
            return
        # Bytes may have come behind the handshake: whatever is answered but 101 ends the connection.
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
            self._exchange = None  # the client is gone, which is nobody's fault
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
        )
