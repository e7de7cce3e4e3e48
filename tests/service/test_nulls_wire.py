"""Wire: null for what may be left out, as clients write it that know all fields (service description §2)."""

from typing import Any

from tests.support.world import World, world

__all__ = ["world"]


def question(**fields: object) -> dict[str, Any]:
    poll = {"question": "Where?", "options": [{"label": "Here"}, {"label": "There"}], "multiple": None}
    return {"poll": poll | fields}


async def test_a_body_may_have_null_for_a_field_with_a_default(world: World) -> None:
    named = {"serverType": "paper", "serverName": "Lobby"}
    temporary = {**named, "tempInstance": None}
    assert (await world.nobody().ask("POST", "/v1/connect/servers/register", temporary)).status_code == 201
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    assert (await ann.do("POST", room.messages, question(), status=201))["poll"]["multiple"] is False
    problem = await ann.do("POST", room.messages, question(question=None), status=422)
    assert [error["pointer"] for error in problem["errors"]] == ["/poll/question"]


async def test_a_command_may_have_it_too(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    async with ann.live() as socket:
        await socket.send_json({"op": "send", "id": 1, "channel": room.channel, "data": question()})
        assert (await socket.receive_until(type="reply", id=1))["ok"]
