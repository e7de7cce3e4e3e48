"""An installation in which every page of the console has something to show."""

import base64
import io
from typing import NamedTuple

from PIL import Image

from tests.support.world import Player, World

SCHEMA = {
    "fields": [
        {"key": "motd", "label": "Greeting", "type": "string", "max": 60},
        {"key": "slots", "label": "Slots", "type": "int", "min": 1, "max": 500},
        {"key": "mode", "label": "Mode", "type": "enum", "options": ["survival", "creative"]},
        {"key": "pvp", "label": "Players fight", "type": "bool"},
        {"key": "worlds", "label": "Worlds", "type": "list"},
        {"key": "token", "label": "Token", "type": "secret"},
    ]
}
LONG = "Überaus-langer-Name-ohne-eine-einzige-Stelle-zum-Umbrechen-64-Zei"
"""As long as names may be, and with no place to break a line at."""


class Furnished(NamedTuple):
    """Whoever looks at it, and what each part of an address stands for.

    Args:
        root: a super-admin, who has all of it.
        parts: {pattern of a page: the addresses to visit}; patterns without parts stand for themselves.
    """

    root: Player
    parts: dict[str, list[str]]


def texture() -> str:
    """The picture of a cape, as a data address."""
    held = io.BytesIO()
    Image.linear_gradient("L").resize((64, 32)).convert("RGBA").save(held, "png")
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


async def submit_cape(owner: Player, name: str) -> None:
    """Bring a cape before the moderators."""
    terms = await owner.get("/v1/profile/capes/upload-terms")
    await owner.do("POST", "/v1/profile/capes/upload-terms/accept", {"revision": terms["revision"]})
    cape = await owner.do("POST", "/v1/profile/capes", {"name": name, "texture": {"dataUrl": texture()}})
    await owner.do("POST", f"/v1/profile/capes/{cape['id']}/submit")


async def claimed_server(world: World, owner: Player, name: str) -> dict[str, str]:
    """A game server of somebody: its id and secret."""
    body = {"serverType": "paper", "serverName": name}
    made = await world.nobody().do("POST", "/v1/connect/servers/register", body, status=201)
    await owner.do("POST", "/v1/connect/servers/claim", {"claimKey": made["claimKey"]})
    return {"id": made["serverId"], "secret": made["serverSecret"]}


async def befriend(one: Player, other: Player) -> None:
    """Make two users friends."""
    sent = await one.do("POST", "/v1/social/friends/requests", {"targetId": other.id})
    await other.do("POST", f"/v1/social/friends/requests/{sent['id']}/accept")


async def furnish(world: World) -> Furnished:
    """Make it."""
    root = await world.super_admin()
    ada, ben = await world.players("Ada", LONG[:64])
    await befriend(root, ada)
    await ben.do("POST", "/v1/social/friends/requests", {"targetId": root.id})
    room = await root.talk_to(ada)
    for text in ("hello", "a" * 300, "https://example.org/" + "b" * 200):
        await ada.say(room, text)
    await root.say(room, "", poll={"question": "Tonight?", "options": [{"label": "yes"}, {"label": "no"}]})
    await root.do("POST", "/v1/social/party")
    await ada.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": "shouts " * 20})
    for owner in (root, ada):
        await submit_cape(owner, "Dusk")
    server = await _server(world, root, ada)
    network = await root.do("POST", "/v1/connect/networks", {"name": "Islands"})
    network_id = network["network"]["networkId"]
    await root.do("POST", f"/v1/connect/networks/{network_id}/domains", {"domain": "play.example.org"})
    await world.grant(ben, "social:friends.max", value={"value": 500, "unit": "count"})
    return Furnished(
        root,
        {
            "/app/chat/:id?": ["/app/chat", f"/app/chat/{room.id}"],
            "/app/servers/:id/:tab?": [f"/app/servers/{server}"],
            "/app/people/:id": [f"/app/people/{ada.id}"],
            "/app/networks/:id?/:tab?": ["/app/networks", f"/app/networks/{network_id}"],
            "/app/operate/users/:id?": ["/app/operate/users", f"/app/operate/users/{ben.id}"],
        },
    )


async def _server(world: World, owner: Player, member: Player) -> str:
    server = (await claimed_server(world, owner, "Survival"))["id"]
    path = f"/v1/connect/servers/{server}"
    data = {"motd": "Welcome", "slots": 40, "mode": "survival", "worlds": ["one"], "token": "hidden"}
    await owner.do("PUT", f"{path}/settings", {"data": data, "schema": SCHEMA})
    await owner.do("PUT", f"{path}/members/{member.id}", {"role": "operator"})
    await owner.do("POST", f"{path}/commands", {"action": "count", "payload": {"to": 3}})
    await claimed_server(world, owner, LONG)
    public = {
        "address": "play.example.org",
        "displayName": LONG,
        "category": "survival",
        "tags": ["pvp"],
        "hidden": False,
        "motdOverride": "A " * 80,
        "socialLinks": [],
    }
    made = await owner.do("PUT", f"/v1/connect/publications/server/{server}", public)
    await owner.do("POST", "/v1/profile/public-servers/saved", {"serverId": made["publication"]["id"]})
    return server
