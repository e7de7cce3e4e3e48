"""Changes of saved servers whose COMMIT loses its answer."""

from tests.saved_servers.play import SAVED
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_saved_server(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", SAVED, {"address": f"{MARK}.example.org"}, counted(ann, SAVED))


CASES = (a_saved_server,)
