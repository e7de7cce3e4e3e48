"""Changes of chat whose COMMIT loses its answer."""

from tests.support.losing import MARK, Lost, counted
from tests.support.world import CONVERSATIONS, World


async def a_vote(world: World) -> Lost:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    poll = {"question": "When?", "options": [{"label": "now"}, {"label": "later"}]}
    sent = await ann.say(room, "", poll=poll)

    async def made() -> int:
        return (await ann.get(room.messages))["items"][0]["poll"]["totalVoters"]

    path = f"{room.message(sent['id'])}/poll/vote"
    chosen = {"optionIds": [sent["poll"]["options"][0]["id"]]}
    return Lost(ben, "POST", path, chosen, made, said=sent["id"].encode())


async def a_group(world: World) -> Lost:
    ann, ben = await world.players("Ann", "Ben")
    body = {"kind": "group", "participantIds": [ben.id], "title": MARK}
    return Lost(ann, "POST", CONVERSATIONS, body, counted(ben, CONVERSATIONS))


CASES = (
    a_vote,
    a_group,
)
