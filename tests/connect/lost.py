"""Changes of game servers whose COMMIT loses its answer."""

from tests.connect.play import claimed
from tests.support.losing import MARK, Lost
from tests.support.world import World


async def settings_of_a_server(world: World) -> Lost:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/settings"

    async def made() -> int:
        return (await ann.get(path, source="shop"))["version"]

    return Lost(ann, "PUT", path, {"source": "shop", "data": {"motd": MARK}}, made)


CASES = (settings_of_a_server,)
