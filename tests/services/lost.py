"""Changes of services whose COMMIT loses its answer."""

from tests.services.play import SERVICES, extension
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_service(world: World) -> Lost:
    ann = await world.player("Ann")
    await extension(ann, "board")
    body = {"name": MARK, "extensionId": "board"}
    return Lost(ann, "POST", SERVICES, body, counted(ann, SERVICES), said=b"INSERT INTO services")


CASES = (a_service,)
