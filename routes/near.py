"""The short way between nodes of one machine: Unix sockets, read and written in the event loop itself.

    FOLDER/<node>.sock   where a node listens; each other node has one connection to it, on which only that node talks

A message is sent as four bytes of length and the message. This is only a shortcut of the bus: a node that does not
reach the bus is silent here too, so that who hears whom is the same on both ways. Links notice when messages are lost
here or overtake others (`actors/kernel/nodes/link.py`), and accept none without its seal.

It exists because a message over NATS crosses four threads and a third process.
"""

import contextlib
import os
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Protocol

import structlog
import trio

from actors.kernel.nodes.links import Bus
from routes.edge.faults import OperatorFault

MESSAGE_BYTES = 1024 * 1024
"""The largest message, as on the bus."""

BACKLOG_BYTES = 1024 * 1024
"""How many bytes may wait for one node before links hold back, as for the bus."""

RECEIVE_BYTES = 256 * 1024

MOST_TALKERS = 256
"""Most connections that are read at the same time."""

RETRY_SECONDS = 0.2
"""How long a node that is not found here is reached over the bus, before it is looked for again."""

_LENGTH_BYTES = 4

_log = structlog.get_logger()


class NoSocket(OperatorFault):
    """No socket can be made in the folder for them; the message is one line for the operator."""


class LongWay(Bus, Protocol):
    """The bus that reaches all nodes (`persistence.bridge.bus.Bus`)."""

    @property
    def is_up(self) -> bool:
        """Whether the bus is reached."""
        ...


class NearBus:
    """The bus, with a shortcut to the nodes whose sockets are in the same folder as this node's.

    Args:
        bus: the bus, which carries messages to all other nodes.
        folder: the folder of the sockets; made if it is absent, for this user alone.
        node: the name of this node, which no other process has at this moment.

    Attributes:
        messages: how many messages were sent by the shortcut.
    """

    def __init__(self, bus: LongWay, folder: Path, node: str) -> None:
        self.messages = 0
        self._bus = bus
        self._folder = folder
        self._node = node
        self._ways: dict[str, Way] = {}
        self._looked_at: dict[str, float] = {}
        self._found: Callable[[str], Way | None] = lambda _: None

    def takes(self, node: str) -> bool:
        """Whether messages to a node go out now."""
        way = self._ways.get(node)
        return self._bus.takes(node) and (way is None or way.waiting_bytes < BACKLOG_BYTES)

    def publish(self, node: str, data: bytes) -> None:
        """Send a message to a node, without waiting; it may be lost.

        Args:
            node: the receiving node's name.
            data: the message, at most `MESSAGE_BYTES`.
        """
        way = self._ways.get(node) or self._look_for(node)
        if way is not None and way.send(data):
            self.messages += 1
            return
        self._ways.pop(node, None)
        self._bus.publish(node, data)

    @asynccontextmanager
    async def joined(
        self, *, taken: Callable[[bytes], None], ready: Callable[[], None]
    ) -> AsyncIterator[None]:
        """Receive and send messages as long as the block lasts.

        Args:
            taken: called with each message for this node, in order for each sending node; must not raise.
            ready: called when a node takes messages again.

        Raises:
            NoSocket: no socket can be made in this folder.
        """
        with _listening(self._folder, self._node) as (folder, listener):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.serve_listeners, Hearing(self._bus, taken).hear, [listener])
                self._found = lambda node: _way_to(_path(folder, node), ready, nursery.start_soon)
                try:
                    yield
                finally:
                    self._found = lambda _: None
                    for way in self._ways.values():
                        way.close()
                    self._ways.clear()
                    nursery.cancel_scope.cancel()

    def _look_for(self, node: str) -> "Way | None":
        now = trio.current_time()
        if now - self._looked_at.get(node, -RETRY_SECONDS) < RETRY_SECONDS:
            return None
        self._looked_at[node] = now
        way = self._found(node)
        if way is not None:
            self._ways[node] = way
        return way


class Way:
    """A connection on which this node talks to one other node.

    Args:
        talking: a connected, non-blocking socket.
        ready: called when the connection takes messages again.
        spawn: starts a task.
    """

    def __init__(
        self, talking: socket.socket, ready: Callable[[], None], spawn: Callable[..., object]
    ) -> None:
        self._socket = talking
        self._ready = ready
        self._spawn = spawn
        self._waiting = bytearray()

    @property
    def waiting_bytes(self) -> int:
        """How many bytes wait because the other node does not read them."""
        return len(self._waiting)

    def send(self, data: bytes) -> bool:
        """Send a message behind those that wait; False when the other node is gone, and the connection is closed."""
        message = len(data).to_bytes(_LENGTH_BYTES, "big") + data
        if self._waiting:
            self._waiting += message
            return True
        sent = self._write(message)
        if sent is None:
            return False
        if sent < len(message):
            self._waiting += memoryview(message)[sent:]
            self._spawn(self._write_on)
        return True

    def close(self) -> None:
        """Close the connection; what waits is lost."""
        self._waiting.clear()
        if self._socket.fileno() >= 0:
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()

    def _write(self, data: bytes | bytearray) -> int | None:
        """How many of these bytes the socket has taken; None when the connection is closed."""
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError:
            self.close()
            return None

    async def _write_on(self) -> None:
        """Write what waits, until there is nothing more."""
        while self._waiting:
            try:
                await trio.lowlevel.wait_writable(self._socket)
            except trio.ClosedResourceError:
                return
            sent = self._write(self._waiting)
            if sent is not None:
                del self._waiting[:sent]
        self._ready()


def _way_to(path: str, ready: Callable[[], None], spawn: Callable[..., object]) -> Way | None:
    talking = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    talking.setblocking(False)
    try:
        talking.connect(path)
    except OSError:  # it is elsewhere, or does not take connections now
        talking.close()
        return None
    return Way(talking, ready, spawn)


class Hearing:
    """Receives the messages of other nodes.

    Args:
        bus: the bus; while it is not reached, messages are dropped here too.
        taken: called with each message.
    """

    def __init__(self, bus: LongWay, taken: Callable[[bytes], None]) -> None:
        self._bus = bus
        self._taken = taken
        self._talkers = 0

    async def hear(self, stream: trio.SocketStream) -> None:
        """Receive the messages on a connection until its end, or until something that is no message."""
        self._talkers += 1
        try:
            if self._talkers > MOST_TALKERS:
                _log.error("too_many_near_nodes", most=MOST_TALKERS)
                return
            await self._hear(stream)
        except trio.BrokenResourceError:
            pass
        finally:
            self._talkers -= 1
            stream.socket.close()

    async def _hear(self, stream: trio.SocketStream) -> None:
        received = bytearray()
        while more := await stream.receive_some(RECEIVE_BYTES):
            received += more
            start, end = 0, _end(received, 0)
            while end <= len(received):
                if self._bus.is_up:
                    self._taken(bytes(memoryview(received)[start + _LENGTH_BYTES : end]))
                start, end = end, _end(received, end)
            if end - start > MESSAGE_BYTES + _LENGTH_BYTES:
                _log.warning("no_message_of_a_near_node", bytes=end - start)
                return
            del received[:start]


def _end(received: bytearray, start: int) -> int:
    """Where the message that begins at `start` ends; or how far to read to find out."""
    length = received[start : start + _LENGTH_BYTES]
    return start + _LENGTH_BYTES + (int.from_bytes(length, "big") if len(length) == _LENGTH_BYTES else 0)


@contextlib.contextmanager
def _listening(path: Path, node: str) -> Iterator[tuple[int, trio.SocketListener]]:
    """The folder's descriptor, and the socket of this node in it, which goes at the end of the block."""
    with contextlib.ExitStack() as stack:
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            stack.callback(os.close, folder)
            _remove(folder, node)  # of a former life, if that was killed
            listening = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listening.bind(_path(folder, node))
            listening.listen()
        except OSError as fault:
            raise NoSocket(f"{path}: {fault.strerror}; see PARTYLINE_LINKS_DIR") from None
        stack.callback(_remove, folder, node)
        yield folder, trio.SocketListener(trio.socket.from_stdlib_socket(listening))


def _remove(folder: int, node: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(_path(folder, node))  # noqa: PTH108 - in the folder that was opened


def _path(folder: int, node: str) -> str:
    """The path of a node's socket, by the folder's descriptor, because such a path has a hundred bytes at most."""
    return f"/proc/self/fd/{folder}/{node}.sock"
