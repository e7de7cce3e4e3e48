"""Changes of moderation whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_note(world: World) -> Lost:
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    path = f"/v1/admin/users/{ann.id}/notes"
    return Lost(mona, "POST", path, {"text": MARK}, counted(mona, path))


CASES = (a_note,)
