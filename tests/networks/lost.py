"""Changes of networks whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_network(world: World) -> Lost:
    ann = await world.player("Ann")
    path = "/v1/connect/networks"
    return Lost(ann, "POST", path, {"name": MARK}, counted(ann, path))


CASES = (a_network,)
