"""Changes of quests whose COMMIT loses its answer."""

from tests.support.losing import Lost
from tests.support.world import World


async def a_reroll(world: World) -> Lost:
    ann = await world.player("Ann")
    path = "/v1/quests/daily-games"
    before = {quest["id"] for quest in (await ann.get(path))["quests"]}

    async def made() -> int:
        return len({quest["id"] for quest in (await ann.get(path))["quests"]} - before) // len(before)

    return Lost(ann, "POST", f"{path}/reroll", {}, made, said=b"UPDATE quest_days")


CASES = (a_reroll,)
