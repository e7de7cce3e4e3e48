"""Large bodies have their places: each caller sends one after the other, and only so many are worked on."""

from collections.abc import Awaitable, Callable

import trio
import trio.testing

from routes.edge.pipeline.large_bodies import LARGE_BYTES, DecodingSlot, LargeBodies

LARGE, SMALL = LARGE_BYTES + 1, LARGE_BYTES

Take = Callable[[DecodingSlot], Awaitable[None]]


class Sent:
    """A body, from the wish to send it until its answer."""

    def __init__(self, bodies: LargeBodies, caller: str | None, take: Take) -> None:
        self.place = DecodingSlot(bodies, caller)
        self.take = take
        self.taken = False
        self.answered = trio.Event()

    async def run(self) -> None:
        try:
            await self.take(self.place)
            self.taken = True
            await self.answered.wait()
        finally:
            await self.place.give_back()


async def wait_for_first(sent: list[Sent], count: int) -> None:
    await trio.testing.wait_all_tasks_blocked()
    assert [one.taken for one in sent] == [number < count for number in range(len(sent))]


async def send(nursery: trio.Nursery, sent: list[Sent]) -> None:
    for one in sent:
        nursery.start_soon(one.run)
        await trio.testing.wait_all_tasks_blocked()


async def test_no_more_large_bodies_are_worked_on_than_there_are_places():
    bodies = LargeBodies(at_once=3)
    sent = [Sent(bodies, None, DecodingSlot.work) for _ in range(5)]
    async with trio.open_nursery() as nursery:
        await send(nursery, sent)
        for at_once, one in zip((3, 4, 5, 5, 5), sent, strict=True):
            await wait_for_first(sent, at_once)
            one.answered.set()
    assert bodies.places.value == 3


async def test_a_caller_sends_one_large_body_after_the_other():
    bodies = LargeBodies()
    sent = [Sent(bodies, "me", lambda place: place.expect(LARGE)) for _ in range(3)]
    async with trio.open_nursery() as nursery:
        await send(nursery, sent)
        for number, one in enumerate(sent):
            await wait_for_first(sent, number + 1)
            one.answered.set()
    assert len(bodies.turns) == 0


async def test_nobody_else_waits_for_a_large_body():
    bodies = LargeBodies()
    large: Take = lambda place: place.expect(LARGE)  # noqa: E731
    small: Take = lambda place: place.expect(SMALL)  # noqa: E731
    whose = (("me", large), ("me", small), ("somebody", large), (None, large), (None, large))
    sent = [Sent(bodies, caller, take) for caller, take in whose]
    async with trio.open_nursery() as nursery:
        await send(nursery, sent)
        await wait_for_first(sent, len(sent))
        for one in sent:
            one.answered.set()
    assert len(bodies.turns) == 0


async def test_who_gives_up_waiting_takes_no_place():
    bodies = LargeBodies(at_once=1)

    async def both(place: DecodingSlot) -> None:
        await place.expect(LARGE)
        await place.work()

    first = Sent(bodies, "me", both)
    async with trio.open_nursery() as nursery:
        await send(nursery, [first])
        for late in (Sent(bodies, "me", both), Sent(bodies, "somebody", both)):
            with trio.move_on_after(0):
                await late.run()
            assert not late.taken
        assert bodies.places.value == 0
        first.answered.set()
    assert (len(bodies.turns), bodies.places.value) == (0, 1)
