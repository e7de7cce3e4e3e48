"""Game servers on their streams: each command that a stream shows is done at once."""

import time
from dataclasses import dataclass, field

import msgspec
import trio

from scripts.load.clients.stream_client import StreamClient
from scripts.load.clients.websocket import UpgradeRefused
from scripts.load.fleet import Agent
from scripts.soaking.asking import Asker, NotDone
from scripts.soaking.watcher import RETRY_SECONDS, Place

QUEUED = 1_000


class _Command(msgspec.Struct):
    id: str
    status: str


class _Frame(msgspec.Struct):
    type: str
    command: _Command | None = None


@dataclass(eq=False)
class SoakedAgent:
    """A game server with a stream that is opened again whenever it ends.

    Args:
        place: where the service is.
        agent: the game server's id, secret and network.
        asker: makes its requests.
    """

    place: Place
    agent: Agent
    asker: Asker
    _lost: trio.Event = field(default_factory=trio.Event)
    _socket: StreamClient | None = None
    _mark: int = 0

    async def run(self) -> None:
        """Listen, and do what is commanded, until cancelled; the stream is closed then."""
        self._todo, todo = trio.open_memory_channel[str](QUEUED)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._do, todo)
                while True:
                    await self._listen()
                    await trio.sleep(RETRY_SECONDS)
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the stream without a close frame, where there is one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
            self._lost.set()

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived."""
        del user
        command = _decode(payload).command
        if command is not None and command.status == "delivered":
            try:
                self._todo.send_nowait(command.id)
            except trio.WouldBlock:
                self.asker.count_error("commands overflow", self._mark)

    def lost(self, why: str) -> None:
        """Note that the stream has ended without our closing it."""
        self._socket = None
        self._lost.set()
        self.asker.count_error(f"stream {why}", self._mark)

    async def _listen(self) -> None:
        self._mark, self._lost = self.asker.mark(), trio.Event()
        began_ns = time.monotonic_ns()
        try:
            self._socket = await StreamClient.open(
                self.place.loop,
                self.place.address,
                self.place.host,
                f"{self.agent.path}/stream",
                self.agent.secret,
                server_id=self.agent.server_id,
                user=self.agent.number,
                ledger=self,
            )
        except (OSError, UpgradeRefused) as error:
            self.asker.count_error(f"stream {type(error).__name__}", self._mark)
            return
        self.asker.books.add("sockets/stream", time.monotonic_ns() - began_ns)
        await self._lost.wait()

    async def _do(self, todo: trio.MemoryReceiveChannel[str]) -> None:
        async for id in todo:
            path = f"{self.agent.path}/commands/{id}/ack"
            try:
                await self.asker.ask(
                    "connect/acknowledge",
                    "POST",
                    path,
                    self.agent.secret,
                    {"status": "success"},
                    server_id=self.agent.server_id,
                )
            except NotDone:
                continue  # the service shows the command again


_decode = msgspec.json.Decoder(_Frame).decode
