"""Every list in pages refuses a foreign cursor in the same words, and reads whatever looks like its own."""

from dataclasses import dataclass

import httpx2
import msgspec

from routes import TABLE
from routes.edge.declare.pages import BEGIN_AGAIN, Cursor, PageQuery
from routes.edge.declare.route import Endpoint
from routes.edge.identity.base64url import to_base64url
from tests.connect.play import claimed
from tests.support.world import Player, World, world

__all__ = ["world"]

FOREIGN = Cursor("foreign", int).text(7)

LEAST, MOST = -(2**63), 2**63 - 1

# {name of a cursor: (path, the parts of its place)}; the parts are the largest, or the smallest, that come through.
LISTS = {
    "users": ("/v1/admin/users", ("\U0010ffff", "none")),
    "audit": ("/v1/admin/audit", (MOST, LEAST)),
    "moderator-notes": ("/v1/admin/users/{userId}/notes", LEAST),
    "reports": ("/v1/admin/reports", LEAST),
    "performance-reports": ("/v1/admin/launcher/performance-reports", (MOST, LEAST)),
    "notifications": ("/v1/notifications", MOST),
    "releases": ("/v1/versions/releases", (MOST, "none")),
    "version-events": ("/v1/versions/events", (MOST, "none", "none", "\U0010ffff")),
    "products": ("/v1/admin/shop/products", "none"),
    "purchases": ("/v1/shop/purchases", MOST),
    "all-purchases": ("/v1/admin/shop/purchases", LEAST),
    "banners": ("/v1/profile/build-moe/banners", (MOST, "none")),
    "shares": ("/v1/profile/shares", (MOST, "none")),
    "services": ("/v1/services", (MOST, "none")),
    "voice-nodes": ("/v1/social/voice/nodes", "none"),
    "blocks": ("/v1/social/friends/blocks", (MOST, "none")),
    "conversations": ("/v1/social/chat/conversations", (MOST, "none")),
    "participants": ("/v1/social/chat/conversations/{conversationId}/participants", (LEAST, "none", "")),
    "commands": ("/v1/connect/servers/{serverId}/commands", (MOST, "none")),
    "settings": ("/v1/connect/servers/{serverId}/settings/history", (MOST, "none", MOST)),
    "server-members": ("/v1/connect/servers/{serverId}/members", ("\U0010ffff", "none")),
    "invites-of-server": ("/v1/connect/servers/{serverId}/invites", (MOST, "none")),
    "extensions-of-server": ("/v1/connect/servers/{serverId}/extensions", "\U0010ffff"),
    "server-invites": ("/v1/connect/server-invites", (MOST, "none")),
    "player-sessions": ("/v1/connect/sessions", (LEAST, "none")),
    "extensions": ("/v1/connect/extensions", "\U0010ffff"),
    "all-servers": ("/v1/admin/connect/servers", ("\U0010ffff", "none")),
    "publications": ("/v1/admin/connect/publications", ("", "none")),
    "gateways": ("/v1/admin/connect/gateways", "none"),
    "gateway-routes": ("/v1/admin/connect/gateway-routes", "\U0010ffff"),
    "news": ("/v1/news", (True, MOST, "none")),
    "news-of-scope": ("/v1/news?scopeType=global", (False, LEAST, "\U0010ffff")),
    "news-feed": ("/v1/news/feed", (True, MOST, "none")),
    "public-news": ("/v1/public/news", (False, LEAST, "none")),
    "public-news-of-scope": ("/v1/public/news?scopeType=global", (True, MOST, "none")),
    "servers-players": ("/v1/public/servers?sort=players", (MOST, "none", "none")),
    "servers-newest": ("/v1/public/servers?sort=newest", (LEAST, "none", "none")),
    "servers-name": ("/v1/public/servers?sort=name", (0, "\U0010ffff", "none")),
}


def takers() -> list[Endpoint]:
    return [one for one in TABLE.endpoints if one.query is not None and "cursor" in one.query.fields]


@dataclass(frozen=True)
class Reader:
    """Somebody who may read every list.

    Args:
        ids: what stands for the parameters of paths.
    """

    player: Player
    ids: dict[str, str]

    @classmethod
    async def of(cls, world: World) -> "Reader":
        """A super-admin with a conversation and a game server."""
        root, ann = await world.super_admin(), await world.player("Ann")
        room, server = await root.talk_to(ann), await claimed(world, root)
        return cls(root, {"{conversationId}": room.id, "{serverId}": server.id, "{userId}": ann.id})

    async def read(self, path: str, cursor: str) -> httpx2.Response:
        """The answer to one page."""
        for parameter, id in self.ids.items():
            path = path.replace(parameter, id)
        return await self.player.ask("GET", f"{path}{'&' if '?' in path else '?'}cursor={cursor}")


def test_whatever_takes_a_cursor_asks_for_a_page():
    strays = [one.line for one in takers() if one.query and not issubclass(one.query.struct, PageQuery)]
    assert strays == []
    listed = {path.partition("?")[0] for path, _ in LISTS.values()}
    assert {one.path for one in takers()} == listed, "each list in pages has a line in LISTS"


async def test_a_foreign_cursor_is_refused_by_name(world: World):
    reader = await Reader.of(world)
    for path in {path.partition("?")[0] for path, _ in LISTS.values()}:
        for cursor in ("x", "", FOREIGN, "%C2%B2", "9" * 700):
            response = await reader.read(path, cursor)
            problem = response.json()
            assert (response.status_code, problem["code"]) == (400, "BAD_QUERY"), path
            assert problem["detail"] == f"query parameter cursor {BEGIN_AGAIN}"
            assert problem["meta"] == {"parameter": "cursor"}


async def test_places_where_nothing_is_are_read(world: World):
    """A cursor is not signed: whoever makes one by hand gets a page, never a fault."""
    reader = await Reader.of(world)
    for name, (path, place) in LISTS.items():
        cursor = f"{name}.{to_base64url(msgspec.msgpack.encode(place))}"
        response = await reader.read(path, cursor)
        assert response.status_code == 200, response.text
