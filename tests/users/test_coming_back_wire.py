"""Wire: users who were erased, and come back under the same id with a newer token (contract §8)."""

from tests.support.world import World
from tests.users.play import again, erase

VERIFY = "/v1/auth/verify"
REFUSED = (401, "UNAUTHENTICATED")


async def test_tokens_of_before_stay_refused(world: World) -> None:
    ann = await world.player("Ann")
    await erase(world, ann)
    assert await ann.refused("GET", VERIFY) == REFUSED
    fresh = again(world, ann)
    await fresh.get(VERIFY)
    assert await ann.refused("GET", VERIFY) == REFUSED
