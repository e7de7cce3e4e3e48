"""Changes of banners whose COMMIT loses its answer."""

from tests.banners.play import BANNERS
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_banner(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", BANNERS, {"name": MARK, "baseColor": "red"}, counted(ann, BANNERS))


CASES = (a_banner,)
