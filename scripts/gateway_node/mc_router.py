"""Feeds the routes API of mc-router (github.com/itzg/mc-router), which then listens in the place of the gateway.

mc-router connects to whatever it is told. So it is told addresses and not names, judged as our own gateway judges them,
and again every half a minute. Routes that others have made there are left alone.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TypeVar

import trio

from scripts.gateway_node import routes as kept
from scripts.gateway_node.backends import Backends
from scripts.gateway_node.counters import TurnedAway
from scripts.gateway_node.mc_router_api import AT_ONCE, RoutesApi
from scripts.gateway_node.proxy_protocol import Place
from scripts.gateway_node.routes import Route, Routes
from scripts.gateway_node.service import NotCarried

Item = TypeVar("Item")

CHECK_SECONDS = 30.0
"""The pause between two looks at the routes that mc-router has: it may have been started anew, and names may have other
addresses."""


class McRouter:
    """Keeps mc-router's routes as the service wants them.

    Args:
        router: the API of mc-router.
        backends: finds and judges the addresses of backends.
        state: the file that says which routes are ours.
        url: the address of the service.
        say: tells the person at the terminal.
    """

    def __init__(
        self, router: RoutesApi, backends: Backends, state: Path, url: str, say: Callable[[str], None]
    ) -> None:
        self._router = router
        self._backends = backends
        self._save = partial(kept.save, state, url)
        self._load = partial(kept.load, state, url)
        self._say = say
        self._said: set[str] = set()
        self._routes: Routes | None = None  # the wanted routes; None before the service has answered
        self._ours: dict[str, Route] | None = None  # our routes that mc-router may have, {host: route}
        self._one_by_one = trio.Lock()

    async def run(self) -> None:
        """Look after mc-router until cancelled."""
        while True:
            await trio.sleep(CHECK_SECONDS)
            if self._routes is not None:
                try:
                    await self.carry(self._routes)
                except NotCarried as fault:
                    self._tell(str(fault))

    async def carry(self, routes: Routes) -> None:
        """Give mc-router these routes, and take away all others that we have made.

        Cancellation leaves some of it done; the next call does the rest.

        Raises:
            NotCarried: mc-router does not answer, or refuses.
        """
        async with self._one_by_one:
            if routes is not self._routes:
                self._said.clear()
            self._routes = routes
            try:
                await self._carry(routes)
            except OSError as fault:
                raise NotCarried(f"the routes cannot be kept: {fault}") from None

    async def _carry(self, routes: Routes) -> None:
        if self._ours is None:
            self._ours = await self._left()
        before, new = self._ours, {route.route_host: route for route in routes}
        await self._keep({**before, **new})
        present = await self._router.routes()
        wanted = await self._judged(routes, {host: to for host, to in present.items() if host in before})
        gone = [host for host in before if host in present and host not in wanted]
        await _each(gone, self._router.delete)
        await _each([(host, to) for host, to in wanted.items() if present.get(host) != to], self._router.post)
        await self._keep(new)

    async def _left(self) -> dict[str, Route]:
        """The routes that we had made before this start, {host: route}."""
        try:
            routes = await trio.to_thread.run_sync(self._load)
        except ValueError as fault:
            self._tell(f"it is not known which routes were ours: {fault}")
            return {}
        return {route.route_host: route for route in routes}

    async def _keep(self, ours: dict[str, Route]) -> None:
        if ours != self._ours:
            await trio.to_thread.run_sync(self._save, Routes(0, ours.values()))
        self._ours = ours

    async def _judged(self, routes: Routes, ours: dict[str, str]) -> dict[str, str]:
        """The routes whose backends may be connected to, {host: address and port}. Where a name is not found now,
        mc-router's route stays as it is.
        """
        wanted: dict[str, str] = {}

        async def judge(route: Route) -> None:
            try:
                wanted[route.route_host] = _written((await self._backends.places(route))[0])
            except TurnedAway as turned:
                self._tell(str(turned))
                if turned.reason == "unreachable" and route.route_host in ours:
                    wanted[route.route_host] = ours[route.route_host]

        await _each(routes, judge)
        if any(route.proxy_protocol for route in routes):
            self._tell(
                "some backends want the PROXY protocol: mc-router sends it with --use-proxy-protocol, to all"
            )
        return wanted

    def _tell(self, line: str) -> None:
        if line not in self._said:
            self._said.add(line)
            self._say(line)


async def _each(items: Iterable[Item], do: Callable[[Item], Awaitable[None]]) -> None:
    """Do something with each item, a few at the same time; the first fault ends all."""
    left = iter(items)
    faults: list[NotCarried] = []

    async def work() -> None:
        try:
            for item in left:
                await do(item)
        except NotCarried as fault:
            faults.append(fault)
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(work)
    if faults:
        raise faults[0]


def _written(place: Place) -> str:
    host, port = place
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
