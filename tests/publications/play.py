"""Publishing for tests, over the wire, and the statuses that game servers push."""

from typing import Any

from actors.time import iso
from persistence.publications.rows import StatusRow, Target
from routes.publications.jobs import flush_statuses
from routes.publications.parts import STATUSES
from routes.service import Service
from tests.connect.play import GameServer
from tests.support.world import Player, World

PUBLIC = "/v1/public/servers"

FRESH_MS = 90_000
NOW_MS = 1_700_000_000_000
NET = Target("network", "net")


def report(
    server: str = "a",
    players: int = 3,
    capacity: int = 20,
    *,
    ago_ms: int = 0,
    network: str | None = "net",
    online: bool = True,
    motd: str = "",
) -> StatusRow:
    """The row of a status that a game server has pushed so long ago."""
    return StatusRow(server, network, online, motd, players, capacity, NOW_MS - ago_ms)


def path_of(target: Any) -> str:
    """The path of the publication of a server or network."""
    kind = "server" if isinstance(target, GameServer) else "network"
    return f"/v1/connect/publications/{kind}/{target.id}"


async def publish(by: Player, target: Any, **more: object) -> Any:
    """Publish a server or network; returns the publication."""
    body = {"address": "play.example.org", "displayName": "Sky Islands", **more}
    return (await by.do("PUT", path_of(target), body, status=200))["publication"]


async def shown(by: Player, target: Any) -> Any:
    """The publication of a server or network, as a player sees it."""
    return (await by.get(path_of(target)))["publication"]


async def push(
    server: GameServer, players: int = 3, *, ago_s: float = 0, kept: bool = True, **more: object
) -> Any:
    """Push a status of so many seconds ago; returns the answer once all nodes know the status, if it is to be kept."""
    world = server.world
    at_ms = world.clock.now_ms() - int(ago_s * 1000)
    body = {
        "online": True,
        "address": "play.example.org:25565",
        "motd": "Welcome",
        "playerCount": players,
        "playerCapacity": 20,
        "updatedAt": iso(at_ms),
        **more,
    }
    answer = await server.do("PUT", f"{server.path}/publication/status", body, status=200)
    if kept:

        def has_heard(service: Service) -> bool:
            known = service.of(STATUSES).report_of(server.id)
            return known is not None and known.at_ms >= at_ms

        await world.everywhere(has_heard)
    return answer


async def flush(world: World) -> None:
    """Have all pushed statuses written to rows."""
    for service in world.services:
        await flush_statuses(service)


async def names(asker: Player, **query: object) -> list[str]:
    """The names in the public list."""
    return [one["displayName"] for one in (await asker.get(PUBLIC, **query))["items"]]
