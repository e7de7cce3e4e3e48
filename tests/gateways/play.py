"""Gateways for tests, over the wire."""

from typing import Any

from actors.gateways import units
from persistence.gateways.gateways import GatewayRow
from routes.changes import change_by_itself
from tests.connect.play import GameServer
from tests.support.world import Player, World

TOKEN = "deployment-token-of-the-tests"
GATEWAYS = "/v1/admin/connect/gateways"
ROUTES = "/v1/admin/connect/gateway-routes"
REGISTER = "/v1/connect/gateways/register"


def identity(host: str = "gw1.example.net", **more: object) -> dict[str, Any]:
    """The body with which a gateway registers."""
    return {"region": "eu-west", "publicHost": host, "port": 25565, "capacity": 100, "token": TOKEN, **more}


class Gateway(Player):
    """A gateway that has registered.

    Args:
        made: the answer to registering it.
    """

    def __init__(self, world: World, made: dict[str, Any]) -> None:
        super().__init__(world, made["gatewayId"], "gateway", None)
        self.headers = {"authorization": f"Bearer {made['gatewaySecret']}", "x-gateway-id": self.id}
        self.path = f"/v1/connect/gateways/{self.id}/heartbeat"
        self.revision = 0
        self.hosts: list[str] = []

    async def beat(self, *, connections: int = 0, wait: int = 0) -> Any:
        """Send a heartbeat, and take the routes in its answer as those in force; returns the answer."""
        body = {"connections": connections, "routesRevision": self.revision, "waitSeconds": wait}
        heard = await self.do("POST", self.path, body, status=200)
        self.revision = heard["routesRevision"]
        if "routes" in heard:
            self.hosts = sorted(route["routeHost"] for route in heard["routes"])
        return heard


async def gateway(world: World, host: str = "gw1.example.net", **more: object) -> Gateway:
    """Register a new gateway."""
    return Gateway(world, await world.nobody().do("POST", REGISTER, identity(host, **more), status=201))


def row(gateway_id: str, **more: Any) -> GatewayRow:
    """The row of a gateway that was heard last at the moment 0."""
    return GatewayRow(
        **{
            "gateway_id": gateway_id, "region": "eu-west", "public_host": "gw1.example.net", "port": 25565,
            "capacity": 100, "secret": bytes(32), "last_heartbeat_at_ms": 0, "created_at_ms": 0, "updated_at_ms": 0,
            **more,
        }
    )  # fmt: skip


async def stored_gateway(world: World) -> str:
    """Store a gateway as rows, for services without a deployment token; returns its id."""
    made = row("a" * 24, last_heartbeat_at_ms=world.clock.now_ms())
    return (await change_by_itself(world.service, units.register, made, about=None)).gateway_id


async def put_route(server: GameServer, host: str, **more: object) -> Any:
    """Set a server's route."""
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565, **more}
    return (await server.do("PUT", f"{server.path}/gateway-route", body, status=200))["route"]
