"""Changes of Discord webhooks whose COMMIT loses its answer."""

from scripts.upstreams.discord import GUILD
from tests.news.play import network
from tests.support.losing import MARK, Lost
from tests.support.world import World


async def a_webhook_of_discord(world: World) -> Lost:
    ann = await world.player("Ann")
    path = f"/v1/connect/networks/{(await network(ann))['id']}/discord"

    async def made() -> int:
        return int((await ann.get(path))["discord"] is not None)

    body = {"guildId": GUILD, "events": ["server_online"], "inviteUrl": f"https://discord.gg/{MARK}"}
    return Lost(ann, "PUT", path, body, made)


CASES = (a_webhook_of_discord,)
