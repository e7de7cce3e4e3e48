"""Views that say what rows say are not told to read them again, however their state has come about."""

from tests.connect.play import claimed
from tests.friends.play import make_friends
from tests.news.play import editor, write
from tests.notifications.play import notify
from tests.party.play import gather
from tests.support.waiting import wait_until
from tests.support.world import World

CHANNELS = ("inbox", "notifications", "party", "servers", "news", "shop")
VIEWS = {"inbox", "notifications", "own_party", "servers", "news", "shop"}


async def test_views_that_have_followed_everything_differ_in_nothing(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ann.live("/v1/social/live?channels=" + ",".join(CHANNELS)):
        await make_friends(ann, ben)
        room = await ann.talk_to(ben)
        await ben.say(room, "hello @Ann")
        await ann.say(room, "hello")
        await gather(ann, ben)
        server = await claimed(world, ann)
        await server.seat(ben)
        await write(await editor(world))
        await notify(world, ann, 1)

        async def same() -> bool:
            system, database = world.service.system, world.service.database
            shown = [one for one in system.live_views() if one.view.differing is not None]
            assert {one.view.name for one in shown} == VIEWS
            for one in shown:
                known, stored = system.peek_view(one.view, one.id), await database.read(one.view.load, one.id)
                if known is None or one.view.differing is None or one.view.differing(known, stored):
                    return False
            return True

        await wait_until(same)
