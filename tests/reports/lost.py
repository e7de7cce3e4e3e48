"""Changes of reports whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_report(world: World) -> Lost:
    root = await world.super_admin()
    ann, ben = await world.players("Ann", "Ben")
    body = {"targetId": ben.id, "reason": MARK}
    return Lost(ann, "POST", "/v1/social/friends/reports", body, counted(root, "/v1/admin/reports"))


CASES = (a_report,)
