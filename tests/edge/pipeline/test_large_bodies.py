"""Large bodies have their places, in all and for each caller."""

import pytest
import trio
import trio.testing

from routes.edge.pipeline.large_bodies import LargeBodies, Place


async def take_into(bodies: LargeBodies, caller: str, taken: list[Place]) -> None:
    taken.append(await bodies.take(caller))


async def test_no_more_large_bodies_are_worked_on_than_there_are_places():
    bodies = LargeBodies(at_once=3, at_once_each=3)
    taken: list[Place] = []
    async with trio.open_nursery() as nursery:
        for caller in "abcde":
            nursery.start_soon(take_into, bodies, caller, taken)
        await trio.testing.wait_all_tasks_blocked()
        assert len(taken) == 3
        taken.pop(0).give_back()
        await trio.testing.wait_all_tasks_blocked()
        assert len(taken) == 3
        for place in list(taken):
            taken.remove(place)
            place.give_back()
    for place in taken:
        place.give_back()
    assert bodies._callers == {}


async def test_one_caller_does_not_take_the_places_of_all():
    bodies = LargeBodies(at_once=4, at_once_each=2)
    mine: list[Place] = []
    async with trio.open_nursery() as nursery:
        for _ in range(4):
            nursery.start_soon(take_into, bodies, "mine", mine)
        await trio.testing.wait_all_tasks_blocked()
        assert len(mine) == 2
        other = await bodies.take("other")
        other.give_back()
        nursery.cancel_scope.cancel()
    for place in mine:
        place.give_back()
    assert bodies._callers == {}


@pytest.mark.parametrize("at_once_each", [1, 2])
async def test_who_gives_up_waiting_takes_no_place(at_once_each: int):
    bodies = LargeBodies(at_once=1, at_once_each=at_once_each)
    place = await bodies.take("a")
    with trio.move_on_after(0):
        await bodies.take("a")
    place.give_back()
    (await bodies.take("a")).give_back()
    assert bodies._callers == {}
