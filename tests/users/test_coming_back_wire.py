"""Wire: users who were erased, and come back under the same id with a newer token (contract §8)."""

from routes.users.erasure import sweep_erased
from tests.chat.play import a_file
from tests.support.waiting import wait_until
from tests.support.world import World
from tests.users.play import again, erase, one

VERIFY = "/v1/auth/verify"
REFUSED = (401, "UNAUTHENTICATED")


async def test_tokens_of_before_stay_refused(world: World) -> None:
    ann = await world.player("Ann")
    await erase(world, ann)
    assert await ann.refused("GET", VERIFY) == REFUSED
    fresh = again(world, ann)
    await fresh.get(VERIFY)
    assert await ann.refused("GET", VERIFY) == REFUSED


async def test_what_is_acknowledged_to_them_stays(world: World) -> None:
    """Also while the erasure was under way when they asked for the first time."""
    ann, ben = await world.players("Ann", "Ben")
    root = await world.super_admin()
    await root.do("DELETE", one(ann), status=204)
    fresh = again(world, ann)

    async def is_back() -> bool:
        return (await fresh.ask("GET", VERIFY)).status_code == 200

    await wait_until(is_back)
    room = await fresh.talk_to(ben)
    kept = await fresh.do("POST", f"{room.path}/attachments", a_file(), status=201)
    await fresh.say(room, "hello", attachmentIds=[kept["id"]])
    await sweep_erased(world.service)
    (said,) = (await ben.get(room.messages))["items"]
    assert (said["senderName"], len(said["attachments"])) == ("Ann", 1)
    assert (await ben.ask("GET", kept["url"])).status_code == 200
