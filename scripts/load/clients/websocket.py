"""The client's half of RFC 6455, as little of it as a load test needs.

Frames of a client must be masked; the mask may be any 32 bits, so it is zero and costs nothing. No extension
is offered, so a server frame is a header and a payload.
"""

import base64
import os
import socket

import trio

from scripts.load.clients.event_loop import EventLoop, Wire, connect

_ZERO_MASK = b"\0\0\0\0"
_MAX_HEAD_BYTES = 16384
_CLOSE, _PING, _PONG = 8, 9, 10
_TEXT = 0x81  # the first byte of an unfragmented text frame


class UpgradeRefused(Exception):
    """The server answered the handshake with something other than 101.

    Args:
        status: the HTTP status.
        body: the beginning of the body, a problem document as a rule.
    """

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"upgrade refused with {status}: {body[:200].decode(errors='replace')}")
        self.status = status
        self.body = body


def client_frame(payload: bytes, opcode: int = 1) -> bytes:
    """One whole masked frame."""
    size = len(payload)
    if size < 126:
        return bytes((0x80 | opcode, 0x80 | size)) + _ZERO_MASK + payload
    if size < 65536:
        return bytes((0x80 | opcode, 0xFE)) + size.to_bytes(2, "big") + _ZERO_MASK + payload
    return bytes((0x80 | opcode, 0xFF)) + size.to_bytes(8, "big") + _ZERO_MASK + payload


def frame_at(data: bytes, at: int) -> tuple[int, int] | None:
    """Where the payload of the frame at `at` begins and ends; None when it is not whole."""
    left = len(data) - at
    if left < 2:
        return None
    size, start = data[at + 1], at + 2
    if size == 126:
        if left < 4:
            return None
        size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
    elif size == 127:
        if left < 10:
            return None
        size, start = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
    return (start, start + size) if start + size <= len(data) else None


def whole_messages(data: bytes) -> list[bytes]:
    """The messages in bytes that are whole text frames and nothing else; empty where the bytes are anything else."""
    found, at = [], 0
    while at < len(data):
        place = frame_at(data, at)
        if place is None or data[at] != _TEXT:
            return []
        found.append(data[place[0] : place[1]])
        at = place[1]
    return found


class WebSocket(Wire):
    """One open socket. A child class takes its messages (`message`)."""

    def __init__(self, loop: EventLoop, sock: socket.socket, rest: bytes = b"") -> None:
        self._buffer = b""
        self._parts: list[bytes] = []
        super().__init__(loop, sock)
        if rest:
            self.heard(rest)

    def message(self, payload: bytes) -> None:
        """A whole text message has arrived."""

    def say(self, payload: bytes) -> None:
        """Send one text message."""
        self.send(client_frame(payload))

    def heard(self, data: bytes) -> None:
        """Cut what arrived into frames; the rest waits for more."""
        if self._buffer:
            data = self._buffer + data
        at, end = 0, len(data)
        while (place := frame_at(data, at)) is not None:
            head, (start, at) = data[at], place
            if head == _TEXT:
                self.message(data[start:at])
            else:
                self._other(head, data[start:at])
            if self.closed:
                return
        self._buffer = data[at:] if at < end else b""

    def _other(self, head: int, payload: bytes) -> None:
        """A control frame, or a piece of a fragmented message."""
        opcode = head & 15
        if opcode == _PING:
            self.send(client_frame(payload, _PONG))
        elif opcode == _CLOSE:
            code = int.from_bytes(payload[:2], "big") if len(payload) >= 2 else 1005
            self.close(f"closed with {code}")
        elif opcode in (0, 1, 2):
            self._parts.append(payload)
            if head & 0x80:
                whole, self._parts = b"".join(self._parts), []
                self.message(whole)


async def upgrade(
    address: tuple[str, int], host: str, target: str, token: str, *, server_id: str = ""
) -> tuple[socket.socket, bytes]:
    """Connect and upgrade; returns the socket and what has already arrived behind the handshake.

    Args:
        address: IP address and port.
        host: the Host field.
        target: path and query.
        token: the user's token or the game server's secret, sent as a bearer.
        server_id: the game server that asks; "" for users.

    Raises:
        UpgradeRefused: the server has refused the upgrade.
        OSError: the server cannot be reached, or hung up. Cancellation closes the socket.
    """
    sock = await connect(address)
    try:
        key = base64.b64encode(os.urandom(16)).decode()
        server = f"X-Server-Id: {server_id}\r\n" if server_id else ""
        sock.send(
            f"GET {target} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{server}"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            f"Sec-WebSocket-Key: {key}\r\n\r\n".encode()
        )
        return sock, await _accepted(sock)
    except BaseException:
        sock.close()
        raise


async def _accepted(sock: socket.socket) -> bytes:
    """Wait for the 101; returns what came behind it."""
    data = b""
    while b"\r\n\r\n" not in data:
        await trio.lowlevel.wait_readable(sock)
        piece = sock.recv(65536)
        # The first frames, which may be long, can come right behind the head.
        endless = len(data) > _MAX_HEAD_BYTES
        data += piece
        if not piece or endless:
            raise OSError("the server hung up during the handshake")
    head, _, rest = data.partition(b"\r\n\r\n")
    status = int(head.split(b" ", 2)[1])
    if status != 101:
        raise UpgradeRefused(status, rest)
    return rest
