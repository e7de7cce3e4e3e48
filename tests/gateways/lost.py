"""Changes of gateways whose COMMIT loses its answer."""

from tests.gateways.play import stored_gateway
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_drained_gateway(world: World) -> Lost:
    admin, path = await world.ranked("Adam", "admin"), "/v1/admin/connect/gateways"
    id = await stored_gateway(world)
    body = {"status": "draining", "region": MARK}
    return Lost(admin, "PATCH", f"{path}/{id}", body, counted(admin, f"{path}?status=draining"))


CASES = (a_drained_gateway,)
