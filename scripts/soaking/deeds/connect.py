"""Game servers: statuses, commands, settings, members, and some that come and go."""

import time

from actors.time import iso
from scripts.soaking.asking import Asker
from scripts.soaking.deeds.deed import Deed, reading
from scripts.soaking.scene import Scene

SERVERS = "/v1/connect/servers"


async def say_status(scene: Scene, asker: Asker) -> None:
    """A game server says how it is."""
    agent, _ = scene.rng.choice(scene.agents)
    body = {
        "online": True,
        "address": "play.example.org:25565",
        "motd": "Welcome",
        "playerCount": scene.rng.randrange(100),
        "playerCapacity": 100,
        "updatedAt": iso(time.time_ns() // 1_000_000),
    }
    await asker.ask(
        "connect/status",
        "PUT",
        f"{agent.path}/publication/status",
        agent.secret,
        body,
        server_id=agent.server_id,
    )


async def publish(scene: Scene, asker: Asker) -> None:
    """An owner publishes a game server, and looks at all that are public."""
    agent, owner = scene.rng.choice(scene.agents)
    body = {"address": "play.example.org", "displayName": f"Soak {agent.number}"}
    path = f"/v1/connect/publications/server/{agent.server_id}"
    await asker.ask("connect/publish", "PUT", path, owner.token, body)
    await asker.ask("connect/public servers", "GET", "/v1/public/servers", owner.token)


async def command(scene: Scene, asker: Asker) -> None:
    """An owner gives a command, which the game server finishes once its stream has shown it."""
    agent, owner = scene.rng.choice(scene.agents)
    body = {"action": "load", "payload": {"n": scene.rng.random()}}
    await asker.ask("connect/command", "POST", f"{agent.path}/commands", owner.token, body)


async def configure(scene: Scene, asker: Asker) -> None:
    """Settings that are written and read."""
    agent, owner = scene.rng.choice(scene.agents)
    path = f"{agent.path}/settings"
    body = {"source": "soak", "data": {"n": scene.rng.random()}}
    await asker.ask("connect/write settings", "PUT", path, owner.token, body)
    await asker.ask("connect/read settings", "GET", path, owner.token)


async def trust(scene: Scene, asker: Asker) -> None:
    """A member who comes and goes."""
    agent, owner = scene.rng.choice(scene.agents)
    member = scene.someone()
    if member == owner:
        return
    path = f"{agent.path}/members/{member.id}"
    await asker.ask("connect/add member", "PUT", path, owner.token, {"role": "operator"})
    await asker.ask("connect/remove member", "DELETE", path, owner.token)


async def claim_and_remove(scene: Scene, asker: Asker) -> None:
    """A game server that is registered, claimed, and removed."""
    owner = scene.someone()
    wanted = {"serverType": "paper", "serverName": "soak"}
    made = await asker.ask("connect/register", "POST", f"{SERVERS}/register", owner.token, wanted)
    await asker.ask("connect/claim", "POST", f"{SERVERS}/claim", owner.token, {"claimKey": made["claimKey"]})
    await asker.ask("connect/remove server", "DELETE", f"{SERVERS}/{made['serverId']}", owner.token)


CONNECT = (
    Deed(6, say_status),
    Deed(1, publish),
    Deed(4, command),
    Deed(2, configure),
    Deed(1, trust),
    Deed(1, claim_and_remove),
    Deed(2, reading("connect/servers", SERVERS)),
    Deed(1, reading("connect/games", "/v1/games/catalog")),
)
