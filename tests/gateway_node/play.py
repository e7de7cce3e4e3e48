"""A gateway without a service, whose routes a test gives, and players, who are sockets."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial

import trio

from routes.edge.address import Network
from scripts.gateway_node.addresses import PRIVATE, Permission
from scripts.gateway_node.backends import Backends, Names
from scripts.gateway_node.carrying import Carrying
from scripts.gateway_node.door import Door
from scripts.gateway_node.routes import Route, Routes
from scripts.gateway_node.service import Identity
from tests.gateway_node.minecraft import MinecraftServer
from tests.gateways.play import TOKEN
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until

LOBBY, ISLANDS = "lobby.example.org", "islands.example.org"
IDENTITY = Identity(token=TOKEN, region="eu-west", public_host="gw1.example.net", port=25565, capacity=100)


def route(
    host: str, to: MinecraftServer | int, backend: str = "127.0.0.1", *, proxied: bool = False
) -> Route:
    """A route to a server on this machine."""
    return Route(host, backend, to if isinstance(to, int) else to.port, proxied)


class Running:
    """A gateway that listens.

    Args:
        carrying: carries its connections.
        door: counts its connections.
        port: the port that it listens at.
        said: the lines that it has told.
    """

    def __init__(self, carrying: Carrying, door: Door, port: int, said: list[str]) -> None:
        self.carrying = carrying
        self.door = door
        self.port = port
        self.said = said

    def turned_away(self) -> dict[str, int]:
        """How many connections were turned away, {reason: how many}."""
        return dict(self.carrying.counters.turned_away)

    async def until(self, **counts: int) -> None:
        """Wait until so many connections are `opening` or `connections`."""

        async def are() -> bool:
            seen = {"opening": self.door.opening, "connections": self.carrying.connections}
            return all(seen[name] == count for name, count in counts.items())

        await wait_until(are)


@asynccontextmanager
async def gateway(
    routes: Iterable[Route] = (),
    *,
    permission: Permission | None = None,
    public: tuple[str, int] = ("gw.example.net", 1),
    capacity: int = 1000,
    trusted: tuple[Network, ...] = (),
    idle_seconds: float = PATIENCE_SECONDS,
    names: Names | None = None,
) -> AsyncIterator[Running]:
    """Run a gateway for the block."""
    said: list[str] = []
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    port = listeners[0].socket.getsockname()[1]
    own = frozenset({("127.0.0.1", port)})
    door = Door(capacity, trusted)
    backends = Backends(permission or Permission(allowed=PRIVATE, own=own), public, names or Names())
    carrying = Carrying(door, backends, idle_seconds, said.append)
    carrying.routes = Routes(1, routes)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.serve_listeners, carrying.serve, listeners))
        yield Running(carrying, door, port, said)
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def player(port: int, *sent: bytes) -> AsyncIterator["Socket"]:
    """Connect to a port of this machine, and send these bytes at once."""
    stream = await trio.open_tcp_stream("127.0.0.1", port)
    async with stream:
        socket = Socket(stream)
        await socket.send(b"".join(sent))
        yield socket


class Socket:
    """A connection whose reads wait patiently."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream

    async def send(self, data: bytes) -> None:
        """Send all bytes."""
        with patience():
            await self.stream.send_all(data)

    async def hear(self, size: int) -> bytes:
        """Receive so many bytes; fewer where the connection has ended before."""
        data = b""
        with patience():
            while len(data) < size and (chunk := await self._some(size - len(data))):
                data += chunk
        return data

    async def rest(self) -> bytes:
        """Receive all bytes until the other side ends the connection."""
        return await self.hear(2**40)

    async def _some(self, size: int) -> bytes:
        try:
            return bytes(await self.stream.receive_some(min(size, 65_536)))
        except trio.BrokenResourceError:
            return b""


def resolved(hosts: Mapping[str, list[str]] | None = None) -> Names:
    """Names with these addresses, {name: addresses}; other names do not exist."""

    async def resolve(name: str) -> list[str]:
        found = (hosts or {}).get(name)
        if found is None:
            raise OSError("no such name")
        return found

    return Names(resolve)
