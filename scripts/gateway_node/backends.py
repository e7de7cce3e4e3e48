"""Connect to backends: names are resolved, each address is judged, and the one that was judged is connected to."""

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
"""For a backend: its name, and all of its addresses."""

OWN_SECONDS = 1.0
"""Of these for the gateway's own name, without which it goes on: a loop has other marks."""

KEPT_SECONDS = 30.0
"""How long the addresses of a name are believed."""

MISSED_SECONDS = 5.0
"""How long a name is believed to have none."""

MAX_NAMES = 10_000

OLD_SECONDS = 3600.0
"""How long the addresses of a name are good for where DNS says nothing: owners of servers choose names, and who answers
for them, and others' players are not to wait for that."""

ANSWER_SECONDS = 1.0
"""How long DNS may take where there are such addresses."""

LOOKUPS_AT_ONCE = 200
"""Most lookups at a time, in threads apart from those of everything else: whoever is asked may be silent."""

Resolve = Callable[[str], Awaitable[list[str]]]
"""`async name -> its addresses`; raises OSError when there are none, which is for good where it is one of `_NONE`."""

_NONE = frozenset((socket.EAI_NONAME, socket.EAI_NODATA))
"""What says that a name has no addresses; any other failure says nothing of it."""


class _Known(msgspec.Struct, frozen=True):
    """What DNS has said of a name.

    Args:
        until: it is not asked again before.
        said_at: when it has said it.
    """

    addresses: list[str] = []
    until: float = -math.inf
    said_at: float = -math.inf


class Lookups:
    """Names as the system resolves them, in threads of their own."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(LOOKUPS_AT_ONCE)

    async def addresses(self, name: str) -> list[str]:
        """The addresses of a name. Cancellation leaves the question to its thread.

        Raises:
            OSError: there are none, or nobody says.
            UnicodeError: it is no name.
        """
        ask = partial(socket.getaddrinfo, name, None, type=socket.SOCK_STREAM)
        found = await trio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=self._limiter)
        return [str(entry[4][0]) for entry in found]


class Names:
    """Remembers the addresses of names, and asks once for all who want the same.

    Args:
        resolve: asks; None as the system does.
    """

    def __init__(self, resolve: Resolve | None = None) -> None:
        self._resolve = resolve or Lookups().addresses
        self._known: dict[str, _Known] = {}
        self._questions: SingleFlight[str, list[str] | None] = SingleFlight()

    async def addresses(self, name: str) -> list[str]:
        """The addresses of a name; none where it has none, or that is not known.

        Cancellation leaves a question to the others that wait for it.
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
        """What DNS says; None where it says nothing."""
        try:
            return list(dict.fromkeys(await self._resolve(name)))
        except UnicodeError:  # of names that are none
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
