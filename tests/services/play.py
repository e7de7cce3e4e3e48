"""Extensions and services for tests, over the wire."""

from typing import Any

from tests.connect.play import GameServer
from tests.support.world import Player

SERVICES = "/v1/services"
SCHEMA = {"version": "2", "fields": [{"key": "key", "type": "secret"}, {"key": "lines", "type": "int"}]}
ACTIONS = [{"id": "clear", "label": "Clear"}]


async def extension(owner: Player, id: str, visibility: str = "public") -> str:
    """Add an extension to the catalog; returns its id."""
    body = {"extensionId": id, "name": id, "visibility": visibility}
    await owner.do("POST", "/v1/connect/extensions", body, status=201)
    return id


async def service(owner: Player, extension_id: str, name: str = "Board") -> Any:
    """Make a service of an extension; returns the answer."""
    return await owner.do("POST", SERVICES, {"name": name, "extensionId": extension_id}, status=201)


async def register(server: GameServer, extension_id: str, name: str = "Board") -> None:
    """Have a game server register an extension."""
    path = f"{server.path}/extensions/{extension_id}"
    await server.do("PUT", path, {"name": name, "actions": ACTIONS}, status=200)


async def configure(server: GameServer, extension_id: str, **data: object) -> None:
    """Have a game server store settings of an extension."""
    body = {"source": extension_id, "data": data, "schema": SCHEMA}
    await server.do("PUT", f"{server.path}/settings", body, status=200)


async def settings(server: GameServer, extension_id: str) -> Any:
    """The settings of an extension as a game server sees them: (version, data)."""
    shown = await server.get(f"{server.path}/settings", source=extension_id)
    return shown["version"], shown["data"]


async def registered(server: GameServer) -> dict[str, str]:
    """The extensions that a game server has registered, {id: name}."""
    items = (await server.get(f"{server.path}/extensions"))["items"]
    return {item["extensionId"]: item["name"] for item in items}
