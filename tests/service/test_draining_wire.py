"""What a client is told by owners that take no more commands, since the service stops."""

from tests.support.world import World, world

__all__ = ["world"]


async def test_a_change_is_refused_as_the_document_says(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    await world.home("conversation", room.id).system.drain()
    answer = await ann.ask("POST", room.messages, {"content": "too late"})
    assert (answer.status_code, answer.json()["code"]) == (503, "DRAINING")
    assert answer.headers["retry-after"] == "1"
