"""Changes of notifications whose COMMIT loses its answer."""

from tests.notifications.play import LIST, READ, notify
from tests.support.losing import Lost
from tests.support.world import World


async def notifications_read(world: World) -> Lost:
    ann = await world.player("Ann")
    ids = await notify(world, ann, 1)

    async def made() -> int:
        return sum(one["readAt"] is not None for one in (await ann.get(LIST))["items"])

    return Lost(ann, "POST", READ, {"ids": ids}, made, said=b"UPDATE notifications SET read")


CASES = (notifications_read,)
