"""The gateway: listens, carries connections, keeps in touch with the service, and lets connections go on for a while
when it is to end."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
import trio

from routes.edge.address import Network, normal
from scripts.gateway_node import routes as kept
from scripts.gateway_node.addresses import Permission
from scripts.gateway_node.backends import Backends, Names
from scripts.gateway_node.carrying import Carrying
from scripts.gateway_node.control import Control
from scripts.gateway_node.counters import Status
from scripts.gateway_node.door import Door
from scripts.gateway_node.routes import Routes
from scripts.gateway_node.service import Identity, Service, service_at

ANYWHERE = "*"
"""The `host` that stands for every address of this machine."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How the gateway is run.

    Args:
        url: where Partyline is, without a slash at its end.
        identity: what the gateway registers as; its port 0 stands for that of the listener.
        host, port: where it listens; port 0 for any.
        state: the file that routes are kept in.
        allowed, refused: networks where backends may be, or may not be, beside the rules.
        trusted: networks of the proxies in front of it.
        idle_seconds: how long a connection may be silent in both directions before it is ended.
        drain_seconds: how long connections may go on once the gateway is to end.
    """

    url: str
    identity: Identity
    host: str
    port: int
    state: Path
    allowed: tuple[Network, ...] = ()
    refused: tuple[Network, ...] = ()
    trusted: tuple[Network, ...] = ()
    idle_seconds: float = 300.0
    drain_seconds: float = 60.0


class Gateway:
    """A gateway.

    Args:
        plan: how it is run.
        say: tells the person at the terminal.
        names: finds the addresses of backends.
    """

    def __init__(self, plan: Plan, say: Callable[[str], None], names: Names | None = None) -> None:
        self.plan = plan
        self._say = say
        self._names = names or Names()
        self._stopping = trio.Event()
        self._door = Door(plan.identity.capacity, plan.trusted)
        self._carrying: Carrying
        self._control: Control
        self.port = 0

    def stop(self) -> None:
        """Let nobody in any more; `run` returns once the last connection has ended, or `drain_seconds` have passed."""
        self._stopping.set()

    def status(self) -> Status:
        """The gateway's status, once it has started."""
        routes = self._carrying.routes
        return Status(
            service="online" if self._control.is_online else "away",
            draining=self._stopping.is_set(),
            connections=self._carrying.connections,
            opening=self._door.opening,
            revision=routes.revision,
            routes=len(routes),
            counters=self._carrying.counters,
        )

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until it is stopped; started once it listens. Cancellation ends it at once.

        Raises:
            Rejected: the service refuses to register it.
            OSError: it cannot listen.
        """
        plan = self.plan
        host = None if plan.host == ANYWHERE else plan.host
        listeners = await trio.open_tcp_listeners(plan.port, host=host)
        self.port = listeners[0].socket.getsockname()[1]
        identity = plan.identity
        if not identity.port:
            identity = msgspec.structs.replace(identity, port=self.port)
        backends = Backends(self._permission(listeners), (identity.public_host, identity.port), self._names)
        self._carrying = Carrying(self._door, backends, plan.idle_seconds, self._say)
        await trio.to_thread.run_sync(self._load)
        async with (
            service_at(plan.url) as service,
            trio.open_nursery() as connections,
        ):
            self._control = Control(Service(service, identity), self._carry, self._connections, self._say)
            async with trio.open_nursery() as nursery:
                serve = partial(trio.serve_listeners, self._carrying.serve, listeners)
                nursery.start_soon(partial(serve, handler_nursery=connections))
                nursery.start_soon(self._control.run)
                self._say(f"listening at {plan.host}:{self.port}")
                task_status.started()
                await self._stopping.wait()
                nursery.cancel_scope.cancel()  # also the heartbeats: names lead elsewhere within two minutes
            self._say(f"draining: {self._carrying.connections} connections, {plan.drain_seconds:g} s at most")
            connections.cancel_scope.deadline = trio.current_time() + plan.drain_seconds

    def _permission(self, listeners: list[trio.SocketListener]) -> Permission:
        own = frozenset(
            (normal(host), port) for host, port, *_ in (one.socket.getsockname() for one in listeners)
        )
        port = self.port if self.plan.host == ANYWHERE else None
        return Permission(allowed=self.plan.allowed, refused=self.plan.refused, own=own, port=port)

    def _connections(self) -> int:
        return self._carrying.connections

    def _load(self) -> None:
        plan = self.plan
        try:
            self._carrying.routes = kept.load(plan.state, plan.url)
        except (OSError, ValueError) as fault:
            self._say(f"the routes that were kept cannot be read: {fault}")
        if len(self._carrying.routes):
            self._say(f"routes: {len(self._carrying.routes)}, as they were kept")

    async def _carry(self, routes: Routes) -> None:
        self._carrying.routes = routes
        try:
            await trio.to_thread.run_sync(kept.save, self.plan.state, self.plan.url, routes)
        except OSError as fault:
            self._say(f"the routes cannot be kept: {fault}")
