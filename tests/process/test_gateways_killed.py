"""`kill -9` of the server while routes are written and a gateway listens: what was acknowledged is there, and the
gateway has it at its first heartbeat, with the secret that it had.
"""

import secrets
import time
from random import Random
from typing import Any

import httpx2
import pytest
import trio

from routes.edge.identity.keys import open_keys
from tests.support.process import ServerProcess, server_process
from tests.support.waiting import PATIENCE_SECONDS, patience

KILLS = 2
SERVERS = 8
SEED = 20_261_124
SPREAD_SECONDS = 0.3
TOKEN = "deployment-token"


class Machine:
    """A game server or a gateway.

    Args:
        headers: with its credentials.
    """

    def __init__(self, client: httpx2.AsyncClient, headers: dict[str, str]) -> None:
        self._client = client
        self._headers = headers

    async def ask(self, method: str, path: str, body: object) -> Any:
        """The JSON of a request, or None when the server is away or has not answered."""
        try:
            answer = await self._client.request(method, path, json=body, headers=self._headers)
        except httpx2.TransportError:
            return None
        assert answer.status_code in {200, 201, 503}, answer.text
        return None if answer.status_code == 503 else answer.json()


async def _gateway(client: httpx2.AsyncClient) -> tuple[str, Machine]:
    """The path of its heartbeats, and the gateway."""
    body = {"region": "eu", "publicHost": "gw.example.net", "port": 25565, "capacity": 9, "token": TOKEN}
    made = await Machine(client, {}).ask("POST", "/v1/connect/gateways/register", body)
    headers = {"authorization": f"Bearer {made['gatewaySecret']}", "x-gateway-id": made["gatewayId"]}
    return f"/v1/connect/gateways/{made['gatewayId']}/heartbeat", Machine(client, headers)


async def _server(process: ServerProcess, client: httpx2.AsyncClient) -> tuple[str, Machine]:
    """The path of a claimed game server's route, and the server."""
    minted = open_keys(process.data_dir).mint_user_token(
        "00000000-0000-4000-8000-000000000000",
        "Ann",
        now_ms=time.time_ns() // 1_000_000,
        ttl_seconds=3600,
        random_bytes=secrets.token_bytes,
    )
    body = {"serverType": "paper", "serverName": "s"}
    made = await Machine(client, {}).ask("POST", "/v1/connect/servers/register", body)
    owner = Machine(client, {"authorization": f"Bearer {minted.token}"})
    await owner.ask("POST", "/v1/connect/servers/claim", {"claimKey": made["claimKey"]})
    headers = {"authorization": f"Bearer {made['serverSecret']}", "x-server-id": made["serverId"]}
    return f"/v1/connect/servers/{made['serverId']}/gateway-route", Machine(client, headers)


class Scene:
    """Servers that write their routes again and again, and a gateway that listens."""

    def __init__(self) -> None:
        self.acknowledged: dict[str, str] = {}  # {path of a server's route: host}
        self.stops = False
        self.revision = 0
        self.hosts: set[str] = set()
        self._seen: dict[int, set[str]] = {}

    async def write(self, number: int, path: str, server: Machine) -> None:
        """Put one route after the other, each until it is acknowledged."""
        count = 0
        while not self.stops:
            count += 1
            host = f"s{number}-{count}.play.partyline.test"
            while await self.put(path, server, host) is None:  # noqa: ASYNC110
                await trio.sleep(0.02)
            self.acknowledged[path] = host

    async def put(self, path: str, server: Machine, host: str) -> Any:
        """Set a route; None when nothing was answered."""
        return await server.ask("PUT", path, {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 1})

    async def listen(self, path: str, gateway: Machine) -> None:
        """Send heartbeats, until nobody writes and all that was acknowledged is there."""
        while not (self.stops and self.hosts == set(self.acknowledged.values())):
            await self.beat(path, gateway)

    async def beat(self, path: str, gateway: Machine) -> None:
        """One heartbeat, and what it brings."""
        body = {"connections": 1, "routesRevision": self.revision, "waitSeconds": 1}
        heard = await gateway.ask("POST", path, body)
        if heard is None:
            await trio.sleep(0.02)
            return
        assert heard["routesRevision"] >= self.revision
        self.revision = heard["routesRevision"]
        if "routes" in heard:
            self.hosts = {route["routeHost"] for route in heard["routes"]}
        assert self._seen.setdefault(self.revision, self.hosts) == self.hosts, "one revision, two tables"


@pytest.mark.drill
async def test_kill_nine_loses_no_route_and_no_revision() -> None:
    rng, scene = Random(SEED), Scene()
    settings = {"gateway_token": TOKEN, "gateway_domain": "play.partyline.test"}
    async with server_process(**settings) as process:
        async with httpx2.AsyncClient(base_url=process.url, timeout=PATIENCE_SECONDS) as client:
            await _play(process, client, scene, rng)
        assert await process.stop() == 0


async def _play(process: ServerProcess, client: httpx2.AsyncClient, scene: Scene, rng: Random) -> None:
    heartbeats, gateway = await _gateway(client)
    servers = [await _server(process, client) for _ in range(SERVERS)]
    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(scene.listen, heartbeats, gateway)
            for number, (path, server) in enumerate(servers):
                nursery.start_soon(scene.write, number, path, server)
            for _ in range(KILLS):
                await trio.sleep(rng.uniform(0, SPREAD_SECONDS))
                await process.kill()
                await process.start()
            scene.stops = True
        await scene.listen(heartbeats, gateway)  # what was acknowledged since, and is confirmed by one more
        await scene.beat(heartbeats, gateway)
    assert len(scene.hosts) == SERVERS
    for path, server in servers:
        answer = await scene.put(path, server, scene.acknowledged[path])
        assert answer["route"]["status"] == "active"
