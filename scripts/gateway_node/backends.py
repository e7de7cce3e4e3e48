"""Connect to backends: a name is resolved, each of its addresses is judged, and the very address that was judged is
connected to."""

import math
import socket
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import trio

from actors.hostnames import is_address
from actors.kernel.single_flight import SingleFlight
from scripts.gateway_node.addresses import Permission
from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.proxy_protocol import Place
from scripts.gateway_node.routes import Route

CONNECT_SECONDS = 5.0
"""How long connecting to a backend may take, with looking up its name and trying all of its addresses."""

OWN_SECONDS = 1.0
"""How much of `CONNECT_SECONDS` the lookup of the gateway's own name may take. Without that the gateway goes on, as
loops are recognised by other marks as well."""

KEPT_SECONDS = 30.0
"""How long the addresses of a name are used before DNS is asked again."""

MISSED_SECONDS = 5.0
"""How long a name counts as one without addresses before DNS is asked again."""

MAX_NAMES = 10_000

OLD_SECONDS = 3600.0
"""How long the addresses of a name are used on where DNS does not answer: owners of game servers choose the names, and
with them the DNS servers, and no player is to wait for a silent one."""

ANSWER_SECONDS = 1.0
"""How long DNS may take where there are earlier addresses to use."""

LOOKUPS_AT_ONCE = 200
"""Most lookups at a time. They have threads of their own, as DNS servers that are silent would hold all others up."""

Resolve = Callable[[str], Awaitable[list[str]]]
"""`async name -> its addresses`; raises OSError when there are none. Only with an error number of `_NONE` is it certain
that the name has none."""

_NONE = frozenset((socket.EAI_NONAME, socket.EAI_NODATA))
"""Error numbers which say that a name has no addresses; after any other failure that is not known."""


class _Known(msgspec.Struct, frozen=True):
    """The last answer of DNS about a name.

    Args:
        addresses: the name's IP addresses; empty where it has none.
        until: DNS is not asked again before, by `trio.current_time()`.
        said_at: when DNS gave the addresses, by the same clock.
    """

    addresses: list[str] = []
    until: float = -math.inf
    said_at: float = -math.inf


class Lookups:
    """Looks names up as the system does, in threads of their own."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(LOOKUPS_AT_ONCE)

    async def addresses(self, name: str) -> list[str]:
        """The IP addresses of a name. Cancellation leaves the lookup to its thread.

        Raises:
            OSError: the name has none, or DNS does not answer.
            UnicodeError: the text is no name.
        """
        ask = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
        found = await trio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=self._limiter)
        return [str(entry[4][0]) for entry in found]


class Names:
    """Remembers the addresses of names, and looks a name up once for all who ask for it at the same time.

    Args:
        resolve: looks a name up; None for `Lookups`.
    """

    def __init__(self, resolve: Resolve | None = None) -> None:
        self._resolve = resolve or Lookups().addresses
        self._known: dict[str, _Known] = {}
        self._questions: SingleFlight[str, list[str] | None] = SingleFlight()

    async def addresses(self, name: str) -> list[str]:
        """The IP addresses of a name; empty where it has none, or they are not known.

        Cancellation does not end a lookup for others that wait for it.
        """
        if is_address(name):
            return [name]
        now = trio.current_time()
        known = self._known.get(name, _Known())
        if now < known.until:
            return known.addresses
        if now - known.said_at >= OLD_SECONDS:
            known = _Known()
        found: list[str] | None = None
        with trio.move_on_after(ANSWER_SECONDS if known.addresses else math.inf):
            found = await self._questions.run(name, partial(self._ask, name))
        return self._keep(name, known, found)

    async def _ask(self, name: str) -> list[str] | None:
        """The addresses that DNS gives; None where it does not answer."""
        try:
            return list(dict.fromkeys(await self._resolve(name)))
        except UnicodeError:  # the text is no name
            return []
        except OSError as fault:
            return [] if fault.errno in _NONE else None

    def _keep(self, name: str, known: _Known, found: list[str] | None) -> list[str]:
        now = trio.current_time()
        if found is None:
            kept = msgspec.structs.replace(known, until=now + MISSED_SECONDS)
        else:
            kept = _Known(found, now + (KEPT_SECONDS if found else MISSED_SECONDS), now)
        self._known.pop(name, None)
        self._known[name] = kept
        while len(self._known) > MAX_NAMES:
            del self._known[next(iter(self._known))]
        return kept.addresses


class Backends:
    """Finds and connects to backends.

    Args:
        permission: the addresses at which they may be.
        public: (host, port) at which players connect to this gateway, so that no route leads back to it.
        names: looks their addresses up.
    """

    def __init__(self, permission: Permission, public: Place, names: Names) -> None:
        self._permission = permission
        self._public = public
        self._names = names

    async def places(self, route: Route) -> list[Place]:
        """(IP address, port) of all places where the backend of a route may be connected to, in the order of its
        addresses.

        Raises:
            TurnedAway: there is no such place.
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
            TurnedAway: the backend cannot or may not be connected to.
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
