"""A WebSocket on this server for an application that is not a `DirectApplication`, by ASGI's events.

A task runs the application for as long as the socket is open. Invariants: at most 16 events wait (and those that the
same read brought), then reading pauses; after `websocket.disconnect` the application has `ABANDON_SECONDS`.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from enum import Enum, auto
from http import HTTPStatus
from math import inf
from typing import Any, TypeAlias

import trio
from hypercorn.typing import (
    ASGIFramework,
    ASGIReceiveEvent,
    ASGISendEvent,
    WebsocketScope,
)

from routes.edge.contained import contained
from routes.edge.server.handover import Handover, Swept
from routes.edge.server.phases import ABANDON_SECONDS
from routes.edge.server.websocket import SocketConnection
from routes.edge.transport.handshake import acceptance, offered_subprotocols
from routes.edge.websocket import frames
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.frame_reader import BINARY, TEXT
from routes.edge.websocket.inbox import INBOX_MAX_MESSAGES

Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]

_OURS = frozenset({b"content-length", b"connection"})
"""Headers of a refusal that the server sets itself."""


class State(Enum):
    """How far the application has answered the handshake."""

    ASKED = auto()
    DENYING = auto()
    ACCEPTED = auto()
    ENDED = auto()


class AsgiSocket:
    """One WebSocket with ASGI's `receive` and `send`; implements `Consumer`.

    Args:
        connection: the WebSocket.
        handover: the parts of the HTTP connection, with the key and the early bytes.
        patience: the cancel scope around the application.
    """

    def __init__(self, connection: SocketConnection, handover: Handover, patience: trio.CancelScope) -> None:
        self.heard = True
        self._connection = connection
        self._key, self._early = handover.key, handover.early
        self._patience = patience
        self._state = State.ASKED
        self._events: deque[ASGIReceiveEvent] = deque(({"type": "websocket.connect"},))
        self._over: ASGIReceiveEvent | None = None
        self._arrived = trio.Event()
        self._status = 0
        self._headers: Headers = ()
        self._body = b""

    # -- Consumer

    def deliver(self, message: bytes) -> None:
        """Queue a text message for `receive`."""
        self._put({"type": "websocket.receive", "bytes": None, "text": message.decode()})

    def deliver_binary(self, message: bytes) -> None:
        """Queue a binary message for `receive`."""
        self._put({"type": "websocket.receive", "bytes": message, "text": None})

    def close(self, code: int, reason: str = "") -> None:
        """Send a close frame with `code` and `reason`, and end."""
        self._connection.say_goodbye(code, reason)
        self.lost(code, reason)

    def lost(self, code: int, reason: str = "") -> None:  # noqa: ARG002
        """Take note that the socket has ended: after the queued events, `receive` returns a disconnect with `code`;
        `reason` is dropped.
        """
        if self._over is None:
            self._state = State.ENDED
            self._over = {"type": "websocket.disconnect", "code": code}
            self._patience.deadline = trio.current_time() + ABANDON_SECONDS
            self._arrived.set()

    # -- ASGI

    async def receive(self) -> ASGIReceiveEvent:
        """The next event (ASGI); after the end always `websocket.disconnect`. Cancellation loses no event."""
        await trio.lowlevel.checkpoint()
        while not self._events:
            if self._over is not None:
                return self._over
            self._connection.hold_back(False)
            self._arrived = trio.Event()
            await self._arrived.wait()
        return self._events.popleft()

    async def send(self, message: ASGISendEvent) -> None:
        """Carry out an event of the application (ASGI); after the end it is dropped.

        Cancellation: the event was carried out or not, and never in part, though its bytes may wait for the client.

        Raises:
            RuntimeError: the event is not allowed in the socket's state.
        """
        await trio.lowlevel.checkpoint()
        if self._state is State.ENDED:
            return
        step = _STEPS.get((self._state, message["type"]))
        if step is None:
            raise RuntimeError(f"{message['type']} has no place while a WebSocket is {self._state.name}")
        await step(self, message)

    def finished(self, *, failed: bool) -> None:
        """Close the socket, or refuse a handshake that has no answer, because the application has ended.

        Args:
            failed: whether it ended by an exception or cancellation.
        """
        if self._state is State.ACCEPTED:
            self.close(CloseCode.INTERNAL_ERROR if failed else CloseCode.NORMAL)
        elif self._state is not State.ENDED:
            self._deny(HTTPStatus.INTERNAL_SERVER_ERROR)

    async def _accepts(self, message: Any) -> None:
        selected = message.get("subprotocol")
        self._state = State.ACCEPTED
        response = acceptance(
            self._key,
            subprotocol=None if selected is None else selected.encode(),
            headers=message.get("headers") or (),
        )
        self._connection.writer.write(response)
        self._connection.accept(self, self._early)

    async def _sends(self, message: Any) -> None:
        binary, text = message.get("bytes"), message.get("text")
        opcode, payload = (TEXT, (text or "").encode()) if binary is None else (BINARY, binary)
        self._connection.writer.write(frames.header(opcode, len(payload)) + payload)
        await self._connection.writer.wait_clear()

    async def _closes(self, message: Any) -> None:
        self.close(message.get("code", CloseCode.NORMAL), message.get("reason") or "")

    async def _refuses(self, message: Any) -> None:  # noqa: ARG002
        self._deny(HTTPStatus.FORBIDDEN)

    async def _denies(self, message: Any) -> None:
        self._state = State.DENYING
        self._status = message["status"]
        self._headers = tuple(
            (bytes(name), bytes(text))
            for name, text in message["headers"]
            if bytes(name).lower() not in _OURS
        )

    async def _explains(self, message: Any) -> None:
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            self._deny(self._status, self._headers, self._body)

    def _deny(self, status: int, headers: Headers = (), body: bytes = b"") -> None:
        """Refuse the upgrade with a response (RFC 6455 §4.2.2)."""
        head = [b"HTTP/1.1 %d %s" % (status, HTTPStatus(status).phrase.encode())]
        head += [name + b": " + text for name, text in headers]
        head += [b"content-length: %d" % len(body), b"connection: close"]
        self._connection.deny(b"\r\n".join([*head, b"", body]))
        self.lost(CloseCode.ABNORMAL)

    def _put(self, event: ASGIReceiveEvent) -> None:
        if self._over is None:
            self._events.append(event)
            self._arrived.set()
            if len(self._events) >= INBOX_MAX_MESSAGES:
                self._connection.hold_back(True)


# {(state, type of an event that the application may send in it): what carries it out}
_STEPS: dict[tuple[State, str], Callable[[AsgiSocket, Any], Awaitable[None]]] = {
    (State.ASKED, "websocket.accept"): AsgiSocket._accepts,
    (State.ASKED, "websocket.close"): AsgiSocket._refuses,
    (State.ASKED, "websocket.http.response.start"): AsgiSocket._denies,
    (State.DENYING, "websocket.http.response.body"): AsgiSocket._explains,
    (State.ACCEPTED, "websocket.send"): AsgiSocket._sends,
    (State.ACCEPTED, "websocket.close"): AsgiSocket._closes,
}


async def serve_by_asgi(
    handover: Handover, app: ASGIFramework, scope: WebsocketScope, *, taken: Callable[[Swept], None]
) -> None:
    """Run an application for one WebSocket, and close that afterwards. Exceptions of the application are reported.

    Cancellation closes the socket with 1011, or refuses the handshake with a 500.

    Args:
        handover: the parts of the HTTP connection.
        app: the application, which is called with the scope in this task.
        scope: the handshake's ASGI scope; subprotocols and extensions are filled in here.
        taken: called first, with the new owner of the connection.
    """
    connection = SocketConnection(handover)
    connection.hold_back(True)  # until the application has answered
    taken(connection)
    scope["subprotocols"] = offered_subprotocols(scope["headers"])
    scope["extensions"] = {"websocket.http.response": {}}
    with trio.CancelScope(deadline=inf) as patience:
        socket = AsgiSocket(connection, handover, patience)
        failed = True
        try:
            with contained(handover.report):
                await app(scope, socket.receive, socket.send)
                failed = False
        finally:
            socket.finished(failed=failed)
