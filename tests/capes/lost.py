"""Changes of capes whose COMMIT loses its answer."""

from tests.capes.stage import OWN as CAPES
from tests.capes.stage import texture
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_cape(world: World) -> Lost:
    ann = await world.player("Ann")
    body = {"name": MARK, "description": "", "texture": texture()}
    return Lost(ann, "POST", CAPES, body, counted(ann, CAPES))


CASES = (a_cape,)
