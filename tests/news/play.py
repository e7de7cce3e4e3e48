"""News for tests: writers, articles and readers over the wire."""

from typing import Any

from actors.time import iso
from tests.support.world import Player, World

NEWS = "/v1/news"
FEED = f"{NEWS}/feed"
FOLLOWS = f"{NEWS}/follows"
PUBLIC = "/v1/public/news"
NETWORKS = "/v1/connect/networks"

POLL = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
GLOBAL = {"type": "global"}


async def editor(world: World, name: str = "Ed") -> Player:
    """Make a user who may write news everywhere."""
    player = await world.player(name)
    await world.grant(player, "news:write")
    return player


async def write(writer: Player, title: str = "Hello", **more: Any) -> Any:
    """Write an article, which is published at once and global where nothing else is said; returns it."""
    body = {"scope": GLOBAL, "title": title, "body": "text", "status": "published", **more}
    return await writer.do("POST", NEWS, body, status=201)


async def change(writer: Player, article: Any, **changes: Any) -> Any:
    """Change an article; returns it."""
    return await writer.do("PATCH", f"{NEWS}/{article['id']}", changes, status=200)


async def network(owner: Player, name: str = "Net") -> dict[str, str]:
    """Make a network of a user; returns it as a scope of articles."""
    made = await owner.do("POST", NETWORKS, {"name": name}, status=201)
    return {"type": "network", "id": made["network"]["networkId"]}


async def follow(player: Player, *things: dict[str, str]) -> None:
    """Have a player follow these scopes, and no others."""
    await player.do("PUT", FOLLOWS, {"items": list(things)}, status=200)


async def titles(player: Player, path: str, **query: object) -> list[str]:
    """The titles in a list, in order."""
    return [item["title"] for item in (await player.get(path, **query))["items"]]


def ahead(world: World, ms: int) -> str:
    """The moment so many milliseconds in the future, as RFC 3339."""
    return iso(world.clock.now_ms() + ms)
