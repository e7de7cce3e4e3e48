"""Gateways for tests, over the wire."""

from typing import Any

from tests.connect.play import GameServer
from tests.support.world import Player, World

TOKEN = "deployment-token-of-the-tests"
REGISTER = "/v1/connect/gateways/register"


def identity(host: str = "gw1.example.net", **more: object) -> dict[str, Any]:
    """What a gateway registers with."""
    return {"region": "eu-west", "publicHost": host, "port": 25565, "capacity": 100, "token": TOKEN, **more}


class Gateway(Player):
    """A gateway that has registered.

    Args:
        made: as it was answered.
    """

    def __init__(self, world: World, made: dict[str, Any]) -> None:
        super().__init__(world, made["gatewayId"], "gateway", None)
        self.headers = {"authorization": f"Bearer {made['gatewaySecret']}", "x-gateway-id": self.id}
        self.path = f"/v1/connect/gateways/{self.id}/heartbeat"
        self.revision = 0
        self.hosts: list[str] = []

    async def beat(self, *, connections: int = 0, wait: int = 0) -> Any:
        """A heartbeat; the routes that it is given are in force from then on."""
        body = {"connections": connections, "routesRevision": self.revision, "waitSeconds": wait}
        heard = await self.do("POST", self.path, body, status=200)
        self.revision = heard["routesRevision"]
        if "routes" in heard:
            self.hosts = sorted(route["routeHost"] for route in heard["routes"])
        return heard


async def gateway(world: World, host: str = "gw1.example.net", **more: object) -> Gateway:
    """A new gateway."""
    return Gateway(world, await world.nobody().do("POST", REGISTER, identity(host, **more), status=201))


async def put_route(server: GameServer, host: str, **more: object) -> Any:
    """Set a server's route."""
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565, **more}
    return (await server.do("PUT", f"{server.path}/gateway-route", body, status=200))["route"]
