"""`partyline serve --processes N`: holds the data folder, and runs the database, NATS, the sockets and N nodes.

Opened in this order, and closed in reverse: sockets, data folder, PostgreSQL, NATS, nodes. The first node is ready
before the others start: it makes the keys and the tables.

| signal | what it does |
|---|---|
| SIGTERM, SIGINT | all nodes stop, each within 35 s, then NATS and PostgreSQL; a second one ends all on the spot |
| SIGHUP | renews the nodes, one after the other; at the end of the terminal it is a SIGTERM |

However the keeper ends, the kernel ends all that it has started.
"""

import os
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path

import structlog
import trio

from persistence.embedded.data_dir import holding, name_node, node_name
from persistence.embedded.postgres import MAX_CONNECTIONS, embedded_postgres
from routes.announcing import announce
from routes.config.config import Config
from routes.edge.binds import Bind
from routes.keeper.listeners import Listeners, open_listeners
from routes.keeper.nats import kept_nats, nats_folder
from routes.keeper.node import KeptNode, settings_of
from routes.keeper.rolling import roll
from routes.lifecycle import HARD_EXIT_CODE

CONNECTIONS = (20, 10)
"""Connections that the embedded PostgreSQL allows: for commands and backups, and for each node, which opens eight."""

log = structlog.get_logger()


def run(config: Config) -> None:
    """Serve with several nodes until SIGTERM or SIGINT. Blocks; must be called in the main thread.

    Args:
        config: the configuration, as read from the environment, with more than one process.

    Raises:
        CannotListen, ClusterInUse, ClusterFaulty, NoPostgres, NatsMissing, NodeFault: the service cannot start; the
            message says why in one line.
    """
    trio.run(_run, config, restrict_keyboard_interrupt_to_checkpoints=True)


async def _run(config: Config) -> None:
    orders = Orders()
    async with trio.open_nursery() as nursery:
        await nursery.start(orders.obey)
        with orders.serving:
            async with _opened(config) as (nodes, listeners):
                await _serve(nodes, listeners, orders)
        nursery.cancel_scope.cancel()


class Orders:
    """The orders that signals have given.

    Attributes:
        serving: the scope that the first signal to stop cancels.
        roll: the event that is set when the nodes are to be renewed.
    """

    def __init__(self) -> None:
        self.serving = trio.CancelScope()
        self.roll = trio.Event()
        self._has_terminal = _has_terminal()

    async def obey(self, task_status: trio.TaskStatus[None]) -> None:
        """Take signals until cancelled."""
        with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            task_status.started()
            async for number in signals:
                if number == signal.SIGHUP and (not self._has_terminal or _has_terminal()):
                    self.roll.set()
                    continue
                if self.serving.cancel_called:
                    os._exit(HARD_EXIT_CODE)
                log.info("stopping", signal=signal.Signals(number).name)
                self.serving.cancel()


def _has_terminal() -> bool:
    """Whether there is a terminal that controls this process; after its end there is none."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True


@asynccontextmanager
async def _opened(config: Config) -> AsyncIterator[tuple[list[KeptNode], Listeners]]:
    """Open everything that the nodes need; yields the nodes, which are not started yet, and their listeners."""
    async with AsyncExitStack() as stack:
        listeners = stack.enter_context(
            open_listeners(
                _addresses(config.bind),
                _addresses(config.tls_bind or ()),
                nodes=config.processes,
                node_port=config.node_port,
            )
        )
        await stack.enter_async_context(holding(config.data_dir))
        database_url = await _open_database(stack, config)
        nats_url = await _open_nats(stack, config)
        nodes: list[KeptNode] = []

        def changed() -> None:
            listeners.serve([node.number - 1 for node in nodes if node.is_ready])

        for number, folder in enumerate(_folders(config), 1):
            own = listeners.of(number - 1)
            settings = settings_of(
                own,
                processes=config.processes,
                folder=folder,
                shared_dir=config.shared_dir,
                links_dir=config.links_dir or config.data_dir / "nodes" / "links",
                database_url=database_url,
                nats_url=nats_url,
            )
            nodes.append(KeptNode(number, own, settings, base_url=config.base_url, changed=changed))
        yield nodes, listeners


async def _open_database(stack: AsyncExitStack, config: Config) -> str:
    if config.database_url is not None:
        return config.database_url
    wanted = CONNECTIONS[0] + CONNECTIONS[1] * config.processes
    return await stack.enter_async_context(
        embedded_postgres(
            config.data_dir,
            pg_bin=config.pg_bin,
            wal_dir=config.wal_dir,
            max_connections=max(MAX_CONNECTIONS, wanted),
        )
    )


async def _open_nats(stack: AsyncExitStack, config: Config) -> str:
    if config.nats_url is not None:
        return ",".join(config.nats_url)
    return await stack.enter_async_context(kept_nats(nats_folder(config.data_dir)))


def _addresses(binds: tuple[object, ...]) -> list[Bind]:
    return [one for one in binds if isinstance(one, Bind)]


def _folders(config: Config) -> list[Path]:
    """The data folders of the nodes, each with its name.

    The first has the name of the keeper's folder, so that a process which serves alone, before or after, is the same
    node to the database.
    """
    name = node_name(config.data_dir)
    folders = [config.data_dir / "nodes" / str(number) for number in range(1, config.processes + 1)]
    for number, folder in enumerate(folders, 1):
        folder.mkdir(parents=True, exist_ok=True)
        name_node(folder, name if number == 1 else f"{name}-{number}")
    return folders


async def _serve(nodes: list[KeptNode], listeners: Listeners, orders: Orders) -> None:
    first, *others = nodes
    listeners.serve([0])
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(partial(first.keep, alone=True))
            await first.wait_ready()
            _announce(listeners)
            log.warning("several nodes serve: docs/cluster.md says what does not work across them yet")
            for node in others:
                nursery.start_soon(node.keep)
            while True:
                await orders.roll.wait()
                orders.roll = trio.Event()
                await roll(nodes)
    finally:
        with trio.CancelScope(shield=True):
            async with trio.open_nursery() as stopping:
                for node in nodes:
                    stopping.start_soon(node.stop)


def _announce(listeners: Listeners) -> None:
    announce(f"Partyline listens on {', '.join(listeners.addresses)}")
