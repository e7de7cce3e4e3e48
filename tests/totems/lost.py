"""Changes of totems whose COMMIT loses its answer."""

from tests.support.losing import Lost, counted
from tests.support.world import World
from tests.totems.models import body as totem_body
from tests.totems.play import OWN as TOTEM


async def a_totem(world: World) -> Lost:
    ann = await world.player("Ann")
    history = counted(ann, f"{TOTEM}/history")
    return Lost(ann, "POST", TOTEM, totem_body(), history, said=b"INSERT INTO totem")


CASES = (a_totem,)
