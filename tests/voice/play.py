"""Voice for tests, over the wire."""

from typing import Any

from actors.voice.home import HOME
from persistence.voice.channels import KIND
from routes.service import Service
from scripts.game_server.client import Credentials
from tests.connect.play import GameServer, claimed
from tests.support.world import Player, World

VOICE = "/v1/social/voice"
NODES = "/v1/social/voice/nodes"
NODE = {
    "region": "eu-west",
    "publicUrl": "wss://voice1.example.net/rtc",
    "capacity": 10,
    "protocol": "partyline",
}


class VoiceNode(Player):
    """A registered voice node.

    Args:
        made: the answer to registering it.
    """

    def __init__(self, world: World, made: dict[str, Any]) -> None:
        super().__init__(world, made["nodeId"], "voice node", None)
        self.secret: str = made["nodeSecret"]
        self.headers = {"authorization": f"Bearer {self.secret}", "x-node-id": self.id}
        self.path = f"{NODES}/{self.id}"
        self.cursor: str | None = None

    async def beat(self, *, wait: int = 0, **more: object) -> list[dict[str, Any]]:
        """Send a heartbeat, which acknowledges the orders of the answer before; returns the orders of this answer."""
        body = {
            "participants": 0, "channels": 0, "load": 0.1, "draining": False, "waitSeconds": wait,
            "ack": self.cursor, **more,
        }  # fmt: skip
        heard = await self.do("POST", f"{self.path}/heartbeat", body, status=200)
        self.cursor = heard["cursor"]
        actions: list[dict[str, Any]] = heard["actions"]
        return actions

    def at(self, world: World) -> "VoiceNode":
        """The same voice node, as a client of another node of the service."""
        other = VoiceNode(world, {"nodeId": self.id, "nodeSecret": self.secret})
        other.cursor = self.cursor
        return other

    async def repeated(self) -> list[dict[str, Any]]:
        """The orders that are not acknowledged, from the answer to a heartbeat without an acknowledgement."""
        self.cursor = None
        return await self.beat()


def minding(world: World) -> Service:
    """The node of the service that is in charge of voice."""
    return world.home(KIND, HOME)


async def node_server(world: World) -> GameServer:
    """A game server that may have voice nodes."""
    owner = await world.player("Operator")
    await world.grant(owner, "social:voice.node")
    return await claimed(world, owner)


def credentials_of(server: GameServer) -> Credentials:
    """The credentials of a game server, as `scripts/agent` would keep them."""
    return Credentials(server.id, server.secret)


async def node(world: World, server: GameServer, **more: object) -> VoiceNode:
    """Register a new voice node of a game server."""
    return VoiceNode(world, await server.do("POST", f"{NODES}/register", {**NODE, **more}, status=201))


async def private(player: Player, other: Player, **more: object) -> str:
    """Make a private channel of two users; returns its id."""
    made = await player.do("POST", f"{VOICE}/channels/private", {"targetId": other.id, **more})
    return str(made["id"])


async def join(player: Player, channel_id: str, **more: object) -> Any:
    """Join a channel; returns the answer."""
    return await player.do("POST", f"{VOICE}/session/join", {"channelId": channel_id, **more}, status=200)


async def sync(player: Player, joined: Any, **more: object) -> Any:
    """Sync a session, by which its client says that it is still there; returns the answer."""
    return await player.do(
        "POST", f"{VOICE}/session/sync", {"sessionId": joined["session"]["id"], **more}, status=200
    )


async def ended(player: Player, joined: Any) -> str:
    """The reason why a session has ended, from the answer to a sync."""
    response = await player.ask("POST", f"{VOICE}/session/sync", {"sessionId": joined["session"]["id"]})
    assert (response.status_code, response.json()["code"]) == (409, "INVALID_STATE"), response.text
    return str(response.json()["meta"]["reason"])
