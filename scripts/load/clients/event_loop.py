"""Thousands of sockets in one trio task: one epoll, waited for by trio, served in batches.

A task for each socket would make the client slower than the server that it measures. A `Wire` is one socket
with what waits to be sent; its children (`WebSocket`, `Http`) parse what arrives.
"""

import errno
import os
import select
import socket
from abc import ABC, abstractmethod
from collections.abc import Callable

import trio

MAX_UNSENT_BYTES = 1 << 20  # of a wire; with more one fills a server's buffers and measures nothing
_BATCH = 256
_ROUNDS = 16  # batches between two looks at the other tasks of the process
_RECEIVE_BYTES = 1 << 18


class Wire(ABC):
    """One connected, non-blocking socket. `heard` and `lost` belong to the child class."""

    def __init__(self, loop: "EventLoop", sock: socket.socket) -> None:
        self.loop = loop
        self.sock = sock
        self.closed: str | None = None  # why it is closed; None while it is open
        self.on_loss: Callable[[], None] | None = None  # called when it has ended without our closing it
        self._unsent = bytearray()
        loop.add(self)

    @abstractmethod
    def heard(self, data: bytes) -> None:
        """Bytes have arrived, in order."""

    @abstractmethod
    def lost(self, why: str) -> None:
        """The connection has ended; called once."""

    def send(self, data: bytes) -> None:
        """Write what the socket takes now, and the rest when it takes more; a full buffer ends the connection."""
        if self.closed:
            return
        if self._unsent:
            self._unsent += data
        else:
            sent = self._write(data)
            if sent < len(data) and not self.closed:
                self._unsent += data[sent:]
                self.loop.want_room(self, True)
        if len(self._unsent) > MAX_UNSENT_BYTES:
            self.close("the server does not read")

    def flush(self) -> None:
        """The socket has room again."""
        sent = self._write(self._unsent)
        del self._unsent[:sent]
        if not self._unsent and not self.closed:
            self.loop.want_room(self, False)

    def receive(self) -> None:
        """The socket has something to read, or has ended."""
        try:
            data = self.loop.receive_from(self.sock)
        except BlockingIOError:
            return
        except OSError as error:
            self.close(errno.errorcode.get(error.errno or 0, "OSError"))
            return
        if data:
            self.heard(data)
        else:
            self.close("closed by the server")

    def close(self, why: str = "done") -> None:
        """End the connection; a second call does nothing."""
        if self.closed:
            return
        self.closed = why
        self.loop.remove(self)
        self.sock.close()
        self.lost(why)
        if self.on_loss is not None and why != "done":
            self.on_loss()

    def _write(self, data: bytes | bytearray) -> int:
        try:
            return self.sock.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            self.close(errno.errorcode.get(error.errno or 0, "OSError"))
            return 0


class EventLoop:
    """Reads and writes all wires of one process. `run` is its only task."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._wires: dict[int, Wire] = {}  # {file descriptor: wire}
        # One buffer for all wires: `recv` would map and unmap a quarter of a megabyte for every frame.
        self._buffer = memoryview(bytearray(_RECEIVE_BYTES))

    async def run(self) -> None:
        """Serve until cancelled; then everything is closed."""
        try:
            while True:
                await trio.lowlevel.wait_readable(self._epoll.fileno())
                for _ in range(_ROUNDS):
                    if not self._serve_some():
                        break
        finally:
            for wire in list(self._wires.values()):
                wire.close()
            self._epoll.close()

    def receive_from(self, sock: socket.socket) -> bytes:
        """What has arrived at a socket, a copy; raises what `recv` raises."""
        return bytes(self._buffer[: sock.recv_into(self._buffer)])

    def _serve_some(self) -> bool:
        """Serve one batch of ready wires; False when none was ready."""
        found = self._epoll.poll(0, _BATCH)
        for descriptor, what in found:
            wire = self._wires.get(descriptor)
            if wire is not None and what & select.EPOLLOUT:
                wire.flush()
            if wire is not None and not wire.closed and what & ~select.EPOLLOUT:
                wire.receive()
        return bool(found)

    def add(self, wire: Wire) -> None:
        """Begin to serve a wire."""
        self._wires[wire.sock.fileno()] = wire
        self._epoll.register(wire.sock.fileno(), select.EPOLLIN)

    def remove(self, wire: Wire) -> None:
        """Stop serving a wire whose socket is still open."""
        del self._wires[wire.sock.fileno()]
        self._epoll.unregister(wire.sock.fileno())

    def want_room(self, wire: Wire, wanted: bool) -> None:
        """Say whether the wire waits until it can write again."""
        self._epoll.modify(wire.sock.fileno(), select.EPOLLIN | (select.EPOLLOUT if wanted else 0))


async def connect(address: tuple[str, int]) -> socket.socket:
    """A connected, non-blocking TCP socket without Nagle's delay.

    Raises:
        OSError: the server does not accept. Cancellation closes the socket.
    """
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sock.connect_ex(address) == errno.EINPROGRESS:
            await trio.lowlevel.wait_writable(sock)
        _raise_for(sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), address)
    except BaseException:
        sock.close()
        raise
    return sock


def _raise_for(code: int, address: tuple[str, int]) -> None:
    if code:
        raise OSError(code, f"cannot connect to {address[0]}:{address[1]}: {os.strerror(code)}")
