"""Changes of publications whose COMMIT loses its answer."""

from tests.connect.play import claimed
from tests.publications.play import path_of, publish
from tests.support.losing import MARK, Lost, counted
from tests.support.world import World


async def a_publication(world: World) -> Lost:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server)

    async def made() -> int:
        return int((await ann.get(path_of(server)))["publication"]["displayName"] == MARK)

    body = {"address": "play.example.org", "displayName": MARK}
    return Lost(ann, "PUT", path_of(server), body, made)


async def a_judgement(world: World) -> Lost:
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    id = (await publish(ann, await claimed(world, ann)))["id"]
    path = "/v1/admin/connect/publications"
    body = {"suppressed": True, "reason": MARK}
    return Lost(admin, "PATCH", f"{path}/{id}", body, counted(admin, f"{path}?state=SUPPRESSED"))


CASES = (
    a_publication,
    a_judgement,
)
