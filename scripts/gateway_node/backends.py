"""Connect to backends: names are resolved, each address is judged, and the one that was judged is connected to."""

from collections.abc import Awaitable, Callable

import trio

from actors.hostnames import is_address
from actors.kernel.single_flight import SingleFlight
from routes.edge.outgoing_redirects import addresses_of
from scripts.gateway_node.addresses import Permission
from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.proxy_protocol import Place
from scripts.gateway_node.routes import Route

CONNECT_SECONDS = 5.0
"""For a backend: its name, and all of its addresses."""

OWN_SECONDS = 1.0
"""Of these for the gateway's own name, without which it goes on: a loop has other marks."""

KEPT_SECONDS = 30.0
"""How long the addresses of a name are believed."""

MISSED_SECONDS = 5.0
"""How long a name is believed to have none."""

MAX_NAMES = 10_000

Resolve = Callable[[str], Awaitable[list[str]]]
"""`async name -> its addresses`; raises OSError when it has none."""


class Names:
    """Remembers the addresses of names, and asks once for all who want the same.

    Args:
        resolve: asks.
    """

    def __init__(self, resolve: Resolve = addresses_of) -> None:
        self._resolve = resolve
        self._known: dict[str, tuple[float, list[str]]] = {}  # {name: (until, addresses)}
        self._questions: SingleFlight[str, list[str]] = SingleFlight()

    async def addresses(self, name: str) -> list[str]:
        """The addresses of a name; none where it cannot be resolved.

        Cancellation leaves a question to the others that wait for it.
        """
        if is_address(name):
            return [name]
        until, known = self._known.get(name, (0.0, []))
        if trio.current_time() < until:
            return known

        async def ask() -> list[str]:
            try:
                return list(dict.fromkeys(await self._resolve(name)))
            except (OSError, UnicodeError):  # the latter of names that are none
                return []

        found = await self._questions.run(name, ask)
        self._known.pop(name, None)
        self._known[name] = trio.current_time() + (KEPT_SECONDS if found else MISSED_SECONDS), found
        while len(self._known) > MAX_NAMES:
            del self._known[next(iter(self._known))]
        return found


class Backends:
    """Finds and connects to backends.

    Args:
        permission: where they may be.
        public: where players connect to this gateway, by its name.
        names: their addresses.
    """

    def __init__(self, permission: Permission, public: Place, names: Names) -> None:
        self._permission = permission
        self._public = public
        self._names = names

    async def places(self, route: Route) -> list[Place]:
        """Where the backend of a route may be connected to, in the order of its addresses.

        Raises:
            TurnedAway: nowhere.
        """
        name, port = route.backend_host, route.backend_port
        own: list[str] = []
        if port == self._public[1]:
            with trio.move_on_after(OWN_SECONDS):
                own = await self._names.addresses(self._public[0])
        found = await self._names.addresses(name)
        why = {
            address: "the gateway itself" if address in own else self._permission.refusal(address, port)
            for address in found
        }
        places = [(address, port) for address, refusal in why.items() if refusal is None]
        if not places and found:
            told = ", ".join(f"{address} ({refusal})" for address, refusal in why.items())
            raise TurnedAway("forbidden backend", f"{route.route_host} leads to {told}, port {port}")
        if not places:
            raise TurnedAway("unreachable", f"{route.route_host} leads to {name}, which has no address")
        return places

    async def connect(self, route: Route) -> trio.SocketStream:
        """A connection to the backend of a route.

        Raises:
            TurnedAway: there is none.
        """
        deadline = trio.current_time() + CONNECT_SECONDS
        with trio.move_on_at(deadline):
            places = await self.places(route)
            for number, (address, port) in enumerate(places):
                share = (deadline - trio.current_time()) / (len(places) - number)
                with trio.move_on_after(share):
                    try:
                        return await trio.open_tcp_stream(address, port)
                    except OSError:
                        continue
        raise TurnedAway("unreachable", f"{route.route_host}: {route.backend_host} does not answer")
