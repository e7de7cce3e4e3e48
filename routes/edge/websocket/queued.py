"""A `LiveSocket` over ASGI's WebSocket events.

Used with stock Hypercorn and TLS, where ASGI's `send` is the only way out, and blocks: a queue and a writer task
stand between it and the fan-out. ASGI neither sends pings nor shows pongs, so there is no 4408 here; set Hypercorn's
own `websocket_ping_interval`.
"""

from collections import deque
from collections.abc import Awaitable, Callable, Iterable

import trio
from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable

from actors.kernel.sink import Prepared
from routes.edge.contained import contained
from routes.edge.websocket.bearer import Bearer
from routes.edge.websocket.close_codes import CloseCode, Ending
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket, SocketHandler

STALL_SECONDS = 60.0
"""A client that takes nothing for this time is closed (contract §9)."""

GOODBYE_SECONDS = 5.0
"""How long the sending of a close frame may take."""


class QueuedSocket(LiveSocket):
    """A live socket over ASGI's `send`.

    Args:
        send: ASGI's `send`, after `websocket.accept`.
        nursery: runs what the listener awaits; it has to stay open until that is done.
        report: called with the exceptions of what runs there.
        session_id, bearer: as for `LiveSocket`.
        max_message_bytes: the most bytes of one message of the client.
    """

    __slots__ = (
        "_goodbye",
        "_nursery",
        "_payloads",
        "_ready",
        "_report",
        "_room",
        "_send",
        "max_message_bytes",
    )

    pings = False

    def __init__(
        self,
        send: ASGISendCallable,
        nursery: trio.Nursery,
        report: Callable[[BaseException], None],
        session_id: str,
        bearer: Bearer,
        *,
        max_message_bytes: int,
    ) -> None:
        super().__init__(session_id, bearer)
        self._send = send
        self._nursery = nursery
        self._report = report
        self._payloads: deque[bytes] = deque()
        self._ready = trio.Event()
        self._room: trio.Event | None = None
        self._goodbye: Ending | None = None
        self.max_message_bytes = max_message_bytes

    def offer(self, prepared: Prepared) -> bool:
        """Queue the messages; False when the queue is full (`Sink.offer`)."""
        if not self.clear:
            return self._offer_behind(prepared)
        self.clear = False
        self._queue(prepared)
        return True

    def hold(self, prepared: Prepared) -> None:
        """Queue a reply like `send_nowait`: ASGI cannot send it together with the next one."""
        self.send_nowait(prepared)

    def gather(self) -> None:
        """Does nothing: ASGI takes one message at a time."""

    def release(self) -> None:
        """Does nothing, since nothing is held."""

    def ping(self) -> None:
        """Does nothing, since ASGI has no pings."""

    def _append(self, prepared: Prepared) -> None:
        self._payloads.extend(prepared.payloads)
        self._ready.set()

    def _say_goodbye(self, code: int, reason: str) -> None:
        self._goodbye = Ending(code, reason)
        self._ready.set()

    def _start(self, run: Callable[..., Awaitable[None]], *args: object) -> None:
        self._nursery.start_soon(self._run_contained, run, args)

    def _hold_back(self, held: bool) -> None:
        if held:
            self._room = self._room or trio.Event()
        elif self._room is not None:
            self._room.set()
            self._room = None

    async def _run_contained(self, run: Callable[..., Awaitable[None]], args: tuple[object, ...]) -> None:
        with contained(self._report):
            await run(*args)

    async def write(self) -> None:
        """Send what is queued until the socket is closed, then the close frame. Cancellation drops what is queued."""
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
                code, reason = self._goodbye
                with trio.move_on_after(GOODBYE_SECONDS):
                    await self._send({"type": "websocket.close", "code": code, "reason": reason})
                return
            if self.closed:
                return
            self._ready = trio.Event()
            self.drained()

    async def read(self, receive: ASGIReceiveCallable) -> None:
        """Deliver the client's messages until it disconnects. Cancellation loses none that was delivered.

        Args:
            receive: ASGI's `receive`, after `websocket.connect`.
        """
        while True:
            event = await receive()
            if event["type"] == "websocket.disconnect":
                self.lost(event["code"])
                self._ready.set()
                return
            if event["type"] == "websocket.receive":
                self.heard = True
                self._take(event["text"], event["bytes"])
                while self._room is not None:
                    await self._room.wait()

    def _take(self, text: str | None, binary: bytes | None) -> None:
        if text is None:
            self.deliver_binary(binary or b"")
            return
        message = text.encode()
        if len(message) > self.max_message_bytes:
            self.close(CloseCode.TOO_BIG, f"a message has at most {self.max_message_bytes} bytes")
        else:
            self.deliver(message)


async def serve_socket(
    receive: ASGIReceiveCallable,
    send: ASGISendCallable,
    *,
    handler: SocketHandler,
    sockets: Sockets,
    report: Callable[[BaseException], None],
    session_id: str,
    bearer: Bearer,
    subprotocol: str | None = None,
    headers: Iterable[tuple[bytes, bytes]] = (),
    max_message_bytes: int = 65_536,
) -> None:
    """Accept the upgrade, run the stream, and return when it is over and every message of the client is handled.

    The checks that may refuse the upgrade precede this, and `websocket.connect` was received. An exception of the
    stream closes it with 1011. Cancellation ends it without a close frame.

    Args:
        receive, send: ASGI's two functions.
        handler: opens the stream.
        sockets: the registry that has the socket while it is open.
        report: called with exceptions of the stream.
        session_id, bearer: as for `LiveSocket`.
        subprotocol: the selected subprotocol, or None.
        headers: (lower-case name, value) of the 101 response.
        max_message_bytes: the most bytes of one message of the client.
    """
    async with trio.open_nursery() as attending, trio.open_nursery() as nursery:
        socket = QueuedSocket(
            send,
            attending,
            report,
            session_id,
            bearer,
            max_message_bytes=max_message_bytes,
        )
        await send({"type": "websocket.accept", "subprotocol": subprotocol, "headers": list(headers)})
        sockets.add(socket)
        nursery.start_soon(_write, socket, nursery.cancel_scope)
        with contained(report):
            await socket.run(handler)
            await socket.read(receive)


async def _write(socket: QueuedSocket, reading: trio.CancelScope) -> None:
    await socket.write()
    reading.cancel()
