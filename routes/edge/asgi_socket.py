"""From an ASGI WebSocket to a `LiveSocket`, and back when it ends.

On our own server the direct socket is used. Everywhere else (stock Hypercorn, TLS, HTTP/2) ASGI's `send` is
the only way, and it waits: a queue and a writer task stand between it and the fan-out. What ASGI does not
offer is then missing: pings (set Hypercorn's own `websocket_ping_interval`), and the sight of pongs, so no
4408.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, WebsocketScope

from actors.kernel.outlet import Prepared
from routes.edge.close_codes import CloseCode
from routes.edge.socket import LiveSocket, SocketClosed
from routes.edge.socket_direct import DirectSocket, Link
from routes.edge.sockets import Sockets

SocketHandler: TypeAlias = Callable[[LiveSocket], Awaitable[None]]
"""Runs while the socket is open; ends by returning or by letting `SocketClosed` through."""

STALL_SECONDS = 60.0
"""A client that takes nothing for this long is closed (contract §9)."""

GOODBYE_SECONDS = 5.0
"""What a close frame gets to leave in."""


class QueuedSocket(LiveSocket):
    """A live socket over ASGI's `send`.

    Args:
        send: of ASGI, after `websocket.accept`.
        session_id, user_id, expires_at_ms: as in `LiveSocket`.
        max_message_bytes: of one message of the client.
    """

    __slots__ = ("_goodbye", "_payloads", "_ready", "_send", "max_message_bytes")

    pings = False

    def __init__(
        self,
        send: ASGISendCallable,
        *,
        session_id: str,
        user_id: str | None = None,
        expires_at_ms: int | None = None,
        max_message_bytes: int,
    ) -> None:
        super().__init__(session_id=session_id, user_id=user_id, expires_at_ms=expires_at_ms)
        self._send = send
        self._payloads: deque[bytes] = deque()
        self._ready = trio.Event()
        self._goodbye: SocketClosed | None = None
        self.max_message_bytes = max_message_bytes

    def offer(self, prepared: Prepared) -> bool:
        """As in `Outlet`."""
        if not self.clear:
            return self._offer_behind(prepared)
        self.clear = False
        self._queue(prepared)
        return True

    def ping(self) -> None:
        """Nothing: ASGI knows no pings."""

    def _append(self, prepared: Prepared) -> None:
        self._payloads.extend(prepared.payloads)
        self._ready.set()

    def _say_goodbye(self, code: int, reason: str) -> None:
        self._goodbye = SocketClosed(code, reason)
        self._ready.set()

    async def write(self) -> None:
        """Send what is queued until the socket is closed, then the close frame."""
        while True:
            await self._ready.wait()
            while self._payloads:
                with trio.move_on_after(STALL_SECONDS) as patience:
                    await self._send(
                        {"type": "websocket.send", "bytes": None, "text": self._payloads.popleft().decode()}
                    )
                if patience.cancelled_caught:
                    self._payloads.clear()
                    self.lost(CloseCode.ABNORMAL, "takes nothing")
                    return
            if self._goodbye is not None:
                code, reason = self._goodbye.code, self._goodbye.reason
                await self._send({"type": "websocket.close", "code": code, "reason": reason})
                return
            if self.closed:
                return
            self._ready = trio.Event()
            self.drained()

    async def read(self, receive: ASGIReceiveCallable) -> None:
        """Deliver what the client sends until it is gone.

        Args:
            receive: of ASGI, after `websocket.connect`.
        """
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                self.lost(event["code"])
                self._ready.set()
                return
            if event["type"] != "websocket.receive":
                continue
            self.heard = True
            text = event.get("text")
            if text is None:
                self.close(CloseCode.BAD_FRAME, "binary frames are not taken")
                continue
            message = text.encode()
            if len(message) > self.max_message_bytes:
                self.close(CloseCode.TOO_BIG, f"a message has at most {self.max_message_bytes} bytes")
            else:
                await self.deliver(message)


async def serve_socket(
    scope: WebsocketScope,
    receive: ASGIReceiveCallable,
    send: ASGISendCallable,
    *,
    handler: SocketHandler,
    sockets: Sockets,
    session_id: str,
    user_id: str | None = None,
    expires_at_ms: int | None = None,
    subprotocol: str | None = None,
    headers: Sequence[tuple[bytes, bytes]] = (),
    max_message_bytes: int = 65_536,
) -> None:
    """Accept the upgrade, run the handler with a live socket, and close it behind the handler.

    Everything that may refuse the upgrade has happened already, and `websocket.connect` was received. The
    handler learns of the end by `SocketClosed` out of `socket.receive()`. When it raises anything else, the
    socket is closed with 1011 and the exception goes on.

    Args:
        scope, receive, send: of ASGI.
        handler: runs as long as the socket is open.
        sockets: where it is registered while it is open.
        session_id, user_id, expires_at_ms: as in `LiveSocket`.
        subprotocol: the selected one, or None.
        headers: of the 101 response, lower-case names.
        max_message_bytes: of one message of the client; our own server has its own setting.
    """
    link = scope["state"].get("connection")
    accept = partial(_accept, send, subprotocol, headers)
    if isinstance(link, Link):
        direct = DirectSocket(link, session_id=session_id, user_id=user_id, expires_at_ms=expires_at_ms)
        # Attached first: what the client sends on the heels of the 101 must find its way.
        link.attach(direct)
        await accept()
        await _converse(direct, handler, sockets)
        return
    queued = QueuedSocket(
        send,
        session_id=session_id,
        user_id=user_id,
        expires_at_ms=expires_at_ms,
        max_message_bytes=max_message_bytes,
    )
    await accept()
    async with trio.open_nursery() as nursery:
        written = trio.Event()
        nursery.start_soon(_write, queued, written)
        nursery.start_soon(queued.read, receive)
        try:
            await _converse(queued, handler, sockets)
        finally:
            # Also when the handler failed: the close frame tells the client so.
            with trio.move_on_after(GOODBYE_SECONDS):
                await written.wait()
        nursery.cancel_scope.cancel()


async def _accept(
    send: ASGISendCallable, subprotocol: str | None, headers: Iterable[tuple[bytes, bytes]]
) -> None:
    await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": list(headers)})


async def _write(socket: QueuedSocket, written: trio.Event) -> None:
    await socket.write()
    written.set()


async def _converse(socket: LiveSocket, handler: SocketHandler, sockets: Sockets) -> None:
    code = CloseCode.INTERNAL_ERROR
    try:
        sockets.add(socket)
        await handler(socket)
        code = CloseCode.NORMAL
    except* SocketClosed:
        code = CloseCode.NORMAL
    finally:
        socket.close(code)
