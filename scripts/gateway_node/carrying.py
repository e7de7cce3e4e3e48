"""Carries a connection, from its first byte to its last."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import trio

from routes.edge.address import normal
from scripts.gateway_node import legacy
from scripts.gateway_node.backends import Backends
from scripts.gateway_node.counters import Counters, TurnedAway
from scripts.gateway_node.door import Door
from scripts.gateway_node.pipe import join
from scripts.gateway_node.proxy_protocol import Header, Place, write_header
from scripts.gateway_node.reception import OPENING_SECONDS, receive_header, receive_opening
from scripts.gateway_node.routes import Routes

MAX_HOPS = 3
"""Most gateways and proxies that a connection may have come through."""

MAX_SAID = 1_000
"""Most details that are told, each once, until the routes change."""


class Carrying:
    """Carries connections.

    Args:
        door: counts connections, and turns away those beyond its bounds.
        backends: finds and connects to the backends of routes.
        idle_seconds: how long a connection may be silent in both directions before it is ended.
        say: tells the person at the terminal.
    """

    def __init__(
        self, door: Door, backends: Backends, idle_seconds: float, say: Callable[[str], None]
    ) -> None:
        self._door = door
        self._backends = backends
        self._idle_seconds = idle_seconds
        self._say = say
        self._said: set[str] = set()
        self._outgoing: set[Place] = set()  # our ends of the connections to backends
        self._routes = Routes()
        self.counters = Counters()

    @property
    def connections(self) -> int:
        """Connections that are carried now."""
        return len(self._outgoing)

    @property
    def routes(self) -> Routes:
        """The routes in force."""
        return self._routes

    @routes.setter
    def routes(self, routes: Routes) -> None:
        self._routes = routes
        self._said.clear()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Carry one connection until it ends, or close it. A fault of one connection does not touch others."""
        self.counters.accepted += 1
        async with stream:
            try:
                with self._door.enter():
                    await self._serve(stream)
            except TurnedAway as turned:
                self._turn_away(turned)
            except (OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                self._turn_away(TurnedAway("left"))
            except Exception as fault:  # what strangers send must not end the connections of others
                self._turn_away(TurnedAway("fault", f"a mistake of ours: {fault!r}"))

    async def _serve(self, stream: trio.SocketStream) -> None:
        peer, data = _place(stream.socket.getpeername()), bytearray()
        deadline = trio.current_time() + OPENING_SECONDS
        header = Header(0, None, 0)
        if self._door.is_trusted(peer):
            with _in_time(deadline):
                header = await receive_header(stream, data)
        source = header.source or peer
        with self._door.hold(source):
            with _in_time(deadline):
                opening = await receive_opening(stream, data)
            if opening.kind == "legacy" and opening.host is None:
                self.counters.pings += 1
                await stream.send_all(legacy.answer(data))
                return
            route = self._routes.of(opening.host)
            if route is None:
                raise TurnedAway("unknown host")
            # `_outgoing` has our end by now, if this is a connection of our own: what comes back through us has sent
            # its opening only after we had connected.
            if header.hops > MAX_HOPS or source in self._outgoing:
                raise TurnedAway("loop", f"{route.route_host} leads back to this gateway")
            backend = await self._backends.connect(route)
        if route.proxy_protocol:
            data[:0] = write_header(source, _place(stream.socket.getsockname()), header.hops)
        async with backend:
            await self._carry(stream, backend, bytes(data))

    async def _carry(self, player: trio.SocketStream, backend: trio.SocketStream, first: bytes) -> None:
        counters, ours = self.counters, _place(backend.socket.getsockname())
        counters.carried += 1
        self._outgoing.add(ours)
        try:
            is_over = await join(
                player,
                backend,
                first,
                idle_seconds=self._idle_seconds,
                to_backend=counters.add_to_backends,
                to_player=counters.add_to_players,
            )
        finally:
            self._outgoing.discard(ours)
        counters.idle += not is_over

    def _turn_away(self, turned: TurnedAway) -> None:
        self.counters.turn_away(turned.reason)
        if turned.detail and turned.detail not in self._said and len(self._said) < MAX_SAID:
            self._said.add(turned.detail)
            self._say(turned.detail)


@contextmanager
def _in_time(deadline: float) -> Iterator[None]:
    with trio.move_on_at(deadline) as scope:
        yield
    if scope.cancelled_caught:
        raise TurnedAway("slow")


def _place(name: tuple[str, int]) -> Place:
    return normal(name[0]), name[1]
