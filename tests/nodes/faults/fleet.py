"""Three nodes as processes, each with a relay of its own before PostgreSQL and one before NATS."""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import trio

from actors.chat.kind import NAME as CONVERSATION
from persistence.bridge.database import Database
from persistence.embedded.data_dir import node_name
from persistence.nodes import members
from persistence.nodes.members import State
from persistence.nodes.shards import shard_of
from tests.support.nats import NatsServer
from tests.support.process import ServerProcess, started
from tests.support.relay import Relay, open_relay
from tests.support.waiting import wait_until

NAMES = ("a", "b", "c")


@dataclass(frozen=True)
class Node:
    """A node.

    Args:
        name: of its folder.
        server: its process, present or last.
        database, bus: what stands between it and PostgreSQL, and between it and NATS.
    """

    name: str
    server: ServerProcess
    database: Relay
    bus: Relay

    @property
    def url(self) -> str:
        """Where it answers."""
        return self.server.url


class Fleet:
    """All nodes, and the rows by which they know each other.

    Args:
        database: theirs, without a relay.
        nodes: by name.
        shared_dir: theirs.
    """

    def __init__(self, database: Database, nodes: dict[str, Node], shared_dir: Path) -> None:
        self.database = database
        self.nodes = nodes
        self.shared_dir = shared_dir

    def others(self, node: Node) -> list[Node]:
        """All nodes but one."""
        return [other for other in self.nodes.values() if other is not node]

    async def owners(self, conversations: Iterable[str]) -> list[Node]:
        """The nodes that own at least one of these.

        Args:
            conversations: by id.
        """
        view = await self.database.read(members.read)
        names = {view.leases[shard_of(CONVERSATION, id)].node for id in conversations}
        return [node for node in self.nodes.values() if node_name(node.server.data_dir) in names]

    async def wait_whole(self) -> None:
        """Wait until each node is up and owns about a third; a failure says what rows and nodes tell."""
        try:
            await wait_until(self._is_whole)
        except trio.TooSlowError:
            view = await self.database.read(members.read)
            owned = Counter(lease.node for lease in view.leases.values())
            logs = "".join(f"\n{node.name}:\n{node.server.log[-2000:]}" for node in self.nodes.values())
            raise AssertionError(f"they are not whole: {view.members}, owning {owned}{logs}") from None

    async def _is_whole(self) -> bool:
        view = await self.database.read(members.read)
        up = [one.node for one in view.members.values() if one.state is State.UP and not one.is_over]
        owners = [lease.node for lease in view.leases.values()]
        least = len(owners) // (2 * len(self.nodes))
        return len(up) == len(self.nodes) and all(owners.count(node) > least for node in up)


@asynccontextmanager
async def open_fleet(
    folder: Path, database: Database, database_url: str, nats: NatsServer
) -> AsyncIterator[Fleet]:
    """Start three nodes and wait until each owns its share; whatever is left of them at the end is killed.

    Args:
        folder: for their files.
        database: opened at `database_url`, which is of a Unix socket.
    """
    parts = urlsplit(database_url)
    socket_path = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
    bus_parts = urlsplit(nats.url)
    assert bus_parts.port is not None
    async with AsyncExitStack() as stack:
        nodes = {}
        for name in NAMES:
            before_database = await _relay(stack, partial(trio.open_unix_socket, socket_path))
            before_bus = await _relay(stack, partial(trio.open_tcp_stream, "127.0.0.1", bus_parts.port))
            settings = {
                "database_url": f"postgresql://partyline@127.0.0.1:{before_database.port}{parts.path}?sslmode=disable",
                "nats_url": f"nats://{bus_parts.username}:{bus_parts.password}@127.0.0.1:{before_bus.port}",
                "shared_dir": str(folder / "shared"),
                "request_seconds": "5",
            }
            (folder / name).mkdir()
            server = await stack.enter_async_context(started(ServerProcess(folder / name, settings=settings)))
            nodes[name] = Node(name, server, before_database, before_bus)
        fleet = Fleet(database, nodes, folder / "shared")
        await fleet.wait_whole()
        yield fleet


async def _relay(stack: AsyncExitStack, dial: Callable[[], Awaitable[trio.SocketStream]]) -> Relay:
    return await stack.enter_async_context(open_relay(dial))
