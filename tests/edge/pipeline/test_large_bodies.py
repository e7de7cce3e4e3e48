"""Large bodies have their places: each caller sends one after the other, and only so many are worked on."""

from collections.abc import Awaitable, Callable

import trio
import trio.testing

from routes.edge.pipeline.large_bodies import LARGE_BYTES, LargeBodies, Place

LARGE, SMALL = LARGE_BYTES + 1, LARGE_BYTES


async def tell(took: Awaitable[None], place: Place, taken: list[Place]) -> None:
    await took
    taken.append(place)


async def started(
    nursery: trio.Nursery, took: Callable[[Place], Awaitable[None]], *places: Place
) -> list[Place]:
    """The places that had what they wanted as soon as nothing more happens; the list goes on growing."""
    taken: list[Place] = []
    for place in places:
        nursery.start_soon(tell, took(place), place, taken)
        await trio.testing.wait_all_tasks_blocked()
    return taken


async def test_no_more_large_bodies_are_worked_on_than_there_are_places():
    bodies = LargeBodies(at_once=3)
    async with trio.open_nursery() as nursery:
        taken = await started(nursery, Place.work, *(bodies.place(None) for _ in range(5)))
        for at_once in (3, 4, 5):
            await trio.testing.wait_all_tasks_blocked()
            assert len(taken) == at_once
            taken[at_once - 3].give_back()
    for place in taken[3:]:
        place.give_back()
    assert bodies.places.value == 3


async def test_a_caller_sends_one_large_body_after_the_other():
    bodies = LargeBodies()
    async with trio.open_nursery() as nursery:
        mine = [bodies.place("me") for _ in range(3)]
        taken = await started(nursery, lambda place: place.expect(LARGE), *mine)
        for number in range(3):
            await trio.testing.wait_all_tasks_blocked()
            assert taken == mine[: number + 1]
            mine[number].give_back()
    assert bodies.queues == {}


async def test_nobody_else_waits_for_a_large_body():
    bodies = LargeBodies()
    sizes = [("me", LARGE), ("me", SMALL), ("somebody", LARGE), (None, LARGE), (None, LARGE)]
    places = [bodies.place(caller) for caller, _ in sizes]
    with trio.fail_after(5):
        for place, (_, size_bytes) in zip(places, sizes, strict=True):
            await place.expect(size_bytes)
    for place in places:
        place.give_back()
    assert bodies.queues == {}


async def test_who_gives_up_waiting_takes_no_place():
    bodies = LargeBodies(at_once=1)
    first, second = bodies.place("me"), bodies.place("me")
    await first.expect(LARGE)
    await first.work()
    for wait in (second.expect(LARGE), second.work()):
        with trio.move_on_after(0):
            await wait
    second.give_back()
    assert bodies.places.value == 0
    first.give_back()
    assert (bodies.queues, bodies.places.value) == ({}, 1)
