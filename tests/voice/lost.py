"""Changes of voice whose COMMIT loses its answer."""

from routes.voice.parts import ATTENDANCE
from tests.support.losing import Lost, counted
from tests.support.world import World
from tests.voice.play import NODE, NODES, minding, node, node_server, private


async def a_voice_node(world: World) -> Lost:
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    return Lost(
        server, "POST", f"{NODES}/register", NODE, counted(moderator, NODES), said=b"INSERT INTO voice_nodes"
    )


async def a_voice_channel(world: World) -> Lost:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    path = "/v1/social/voice/channels/private"

    async def made() -> int:
        return int(minding(world).of(ATTENDANCE).of_pair(ann.id, ben.id) is not None)

    return Lost(ann, "POST", path, {"targetId": ben.id}, made, said=b"INSERT INTO voice_channels")


async def a_voice_session(world: World) -> Lost:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    body = {"channelId": channel_id}

    async def made() -> int:
        return int(minding(world).of(ATTENDANCE).of_user(ann.id) is not None)

    return Lost(ann, "POST", "/v1/social/voice/session/join", body, made, said=b"INSERT INTO voice_sessions")


CASES = (
    a_voice_node,
    a_voice_channel,
    a_voice_session,
)
