"""mc-router's routes follow those of the service. The other side has mc-router's API, over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
import trio

from actors.hostnames import MAX_CHARACTERS
from routes.gateways.parts import CARRYING
from scripts.gateway_node import mc_router
from scripts.gateway_node.addresses import PRIVATE, Permission
from scripts.gateway_node.backends import Backends, Names
from scripts.gateway_node.control import Control
from scripts.gateway_node.mc_router import McRouter
from scripts.gateway_node.mc_router_api import RoutesApi, api_at
from scripts.gateway_node.routes import Route, Routes
from scripts.gateway_node.service import NotCarried, Service, service_at
from scripts.upstreams.http import HttpServer, Reply, Request, as_json
from tests.connect.play import claimed
from tests.gateway_node.play import IDENTITY, resolved
from tests.gateways.play import ROUTES, put_route
from tests.support.waiting import wait_until
from tests.support.world import World

A, B = "a.play.partyline.test", "b.play.partyline.test"
LONG = ".".join(["a" * 56] * 4 + ["play.partyline.test"])
"""A host as long as one may be."""


class Api:
    """The routes API of mc-router, as its source has it."""

    def __init__(self) -> None:
        self.mappings: dict[str, str] = {}
        self.asked: list[str] = []
        self.status: int | None = None

    async def answer(self, request: Request) -> Reply:
        self.asked.append(f"{request.method} {request.path}")
        if self.status is not None:
            return Reply(self.status)
        match request.method, request.path.split("/"):
            case "GET", ["", "routes"]:
                return as_json(200, self.mappings)
            case "POST", ["", "routes"]:
                assert request.headers["content-type"] == "application/json"
                given = request.json()
                self.mappings[given["serverAddress"].lower()] = given["backend"]
                return Reply(201)
            case "DELETE", ["", "routes", host]:
                return Reply(404 if self.mappings.pop(host, None) is None else 200)
        return Reply(405)

    def changes(self) -> list[str]:
        """What was changed since the last look."""
        asked, self.asked = self.asked, []
        return sorted(one for one in asked if not one.startswith("GET"))


@asynccontextmanager
async def fed(
    folder: Path, api: Api, *, names: Names | None = None, permission: Permission | None = None
) -> AsyncIterator[tuple[McRouter, list[str]]]:
    """What feeds an mc-router with this API."""
    server, said = HttpServer(api.answer), []
    backends = Backends(
        permission or Permission(allowed=PRIVATE), ("gw1.example.net", 25565), names or resolved()
    )
    async with trio.open_nursery() as nursery:
        await nursery.start(server.serve)
        async with api_at(f"http://127.0.0.1:{server.port}") as upstream:
            yield (
                McRouter(
                    RoutesApi(upstream), backends, folder / "gateway.json", "http://service", said.append
                ),
                said,
            )
        nursery.cancel_scope.cancel()


async def test_routes_are_made_changed_and_taken_away(tmp_path: Path):
    api = Api()
    api.mappings = {"docker.example.org": "172.17.0.2:25565"}
    names = resolved({"home.example.org": ["192.168.1.5"]})
    async with fed(tmp_path, api, names=names) as (router, _):
        await router.carry(Routes(1, [Route(A, "10.0.0.5", 25565), Route(B, "home.example.org", 25566)]))
        assert api.mappings == {
            "docker.example.org": "172.17.0.2:25565",
            A: "10.0.0.5:25565",
            B: "192.168.1.5:25566",
        }
        assert api.changes() == ["POST /routes", "POST /routes"]
        await router.carry(Routes(2, [Route(A, "fd12::5", 25565), Route(B, "home.example.org", 25566)]))
        assert (api.mappings[A], api.changes()) == ("[fd12::5]:25565", ["POST /routes"])
        assert len(LONG) == MAX_CHARACTERS - 1
        await router.carry(Routes(3, [Route(B, "home.example.org", 25566), Route(LONG, "10.0.0.5", 25565)]))
        assert (LONG in api.mappings, len(api.changes())) == (True, 2)
        await router.carry(Routes(4, [Route(B, "home.example.org", 25566)]))
        assert (sorted(api.mappings), api.changes()) == (
            [B, "docker.example.org"],
            [f"DELETE /routes/{LONG}"],
        )
    async with fed(tmp_path, api, names=names) as (router, _):
        await router.carry(Routes(5, []))
        assert api.mappings == {"docker.example.org": "172.17.0.2:25565"}, (
            "it knows after a restart which were its own"
        )


async def test_it_is_fed_what_may_be_connected_to_and_by_address(tmp_path: Path):
    api = Api()
    where = {"home.example.org": ["192.168.1.5"], "gw1.example.net": []}

    async def resolve(name: str) -> list[str]:
        return where[name]

    routes = [Route(A, "home.example.org", 25565, True), Route(B, "169.254.169.254", 80)]
    async with fed(tmp_path, api, names=Names(resolve)) as (router, said):
        await router.carry(Routes(1, routes))
        assert api.mappings == {A: "192.168.1.5:25565"}
        assert said == [
            f"{B} leads to 169.254.169.254 (forbidden), port 80",
            "some backends want the PROXY protocol: mc-router sends it with --use-proxy-protocol, to all",
        ]
    where["home.example.org"] = []
    async with fed(tmp_path, api, names=Names(resolve)) as (router, _):
        await router.carry(Routes(1, routes))
        assert api.mappings == {A: "192.168.1.5:25565"}, "a name that is not found now takes nothing away"
    where["home.example.org"] = ["127.0.0.1"]
    async with fed(tmp_path, api, names=Names(resolve), permission=Permission()) as (router, said):
        await router.carry(Routes(1, routes))
        assert api.mappings == {}, "what was allowed and is not any more goes"
    (tmp_path / "gateway.json").write_text("no JSON")
    async with fed(tmp_path, api, names=Names(resolve)) as (router, said):
        await router.carry(Routes(1, [Route(B, "10.0.0.5", 25565)]))
        assert api.mappings == {B: "10.0.0.5:25565"}
        assert said[0].startswith("it is not known which routes were ours")


async def test_a_router_that_is_away_or_anew_is_fed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mc_router, "CHECK_SECONDS", 0.01)
    api = Api()
    async with fed(tmp_path, api) as (router, _), trio.open_nursery() as nursery:
        nursery.start_soon(router.run)
        api.status = 500
        with pytest.raises(NotCarried, match="mc-router answers 500"):
            await router.carry(Routes(1, [Route(A, "10.0.0.5", 25565)]))
        api.status = None

        async def is_fed() -> bool:
            return api.mappings == {A: "10.0.0.5:25565"}

        await wait_until(is_fed)
        api.mappings.clear()  # as after a restart
        await wait_until(is_fed)
        nursery.cancel_scope.cancel()


@pytest.mark.slow
async def test_what_it_has_is_confirmed(world: World, tmp_path: Path):
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    server, api = await claimed(world, ann), Api()
    await put_route(server, A)
    async with (
        fed(tmp_path, api) as (router, said),
        service_at(world.url.replace("ws", "http", 1)) as service,
        trio.open_nursery() as nursery,
    ):
        control = Control(Service(service, IDENTITY), router.carry, lambda: 0, said.append)
        nursery.start_soon(control.run)

        async def is_active() -> bool:
            return [one["status"] for one in (await admin.get(ROUTES))["items"]] == ["active"]

        await wait_until(is_active)
        assert api.mappings == {A: "10.0.0.5:25565"}
        await put_route(server, B, backendPort=25570)
        await wait_until(is_active)
        assert api.mappings == {B: "10.0.0.5:25570"}
        nursery.cancel_scope.cancel()
    for service in world.services:
        service.of(CARRYING).close()
    assert msgspec.json.decode((tmp_path / "gateway.json").read_bytes())["routes"][0]["routeHost"] == B
