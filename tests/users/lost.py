"""Changes of users whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World
from tests.users.play import PROFILE, SHARES


async def a_share(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", SHARES, {**PROFILE, "name": MARK}, counted(ann, SHARES))


async def a_role(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def made() -> int:
        return int((await ann.ask("GET", "/v1/admin/reports")).status_code == 200)

    path = f"/v1/admin/users/{ann.id}/roles/moderator"
    return Lost(root, "PUT", path, {}, made, said=b"role.added")


CASES = (
    a_share,
    a_role,
)
