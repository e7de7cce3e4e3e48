"""Extensions and services for tests, over the wire."""

from typing import Any

from tests.connect.play import GameServer
from tests.support.world import Player

SERVICES = "/v1/services"
SCHEMA = {"version": "2", "fields": [{"key": "key", "type": "secret"}, {"key": "lines", "type": "int"}]}
ACTIONS = [{"id": "clear", "label": "Clear"}]


async def extension(owner: Player, id: str, visibility: str = "public") -> str:
    """An extension in the catalog."""
    body = {"extensionId": id, "name": id, "visibility": visibility}
    await owner.do("POST", "/v1/connect/extensions", body, status=201)
    return id


async def service(owner: Player, extension_id: str, name: str = "Board") -> Any:
    """A service, as it was answered."""
    return await owner.do("POST", SERVICES, {"name": name, "extensionId": extension_id}, status=201)


async def register(server: GameServer, extension_id: str, name: str = "Board") -> None:
    """The server registers an extension."""
    path = f"{server.path}/extensions/{extension_id}"
    await server.do("PUT", path, {"name": name, "actions": ACTIONS}, status=200)


async def configure(server: GameServer, extension_id: str, **data: object) -> None:
    """The server stores settings of an extension."""
    body = {"source": extension_id, "data": data, "schema": SCHEMA}
    await server.do("PUT", f"{server.path}/settings", body, status=200)


async def settings(server: GameServer, extension_id: str) -> Any:
    """(version, data), as the server sees them."""
    shown = await server.get(f"{server.path}/settings", source=extension_id)
    return shown["version"], shown["data"]


async def registered(server: GameServer) -> dict[str, str]:
    """{extension: its name} of what the server has registered."""
    items = (await server.get(f"{server.path}/extensions"))["items"]
    return {item["extensionId"]: item["name"] for item in items}
