"""One after the other by key, and nothing is left behind."""

import trio

from actors.kernel.turnstile import Turnstile


async def test_blocks_of_one_key_never_overlap():
    turnstile, inside, order = Turnstile(), set[str](), list[int]()

    async def enter(key: str, number: int) -> None:
        async with turnstile.turn(key):
            assert key not in inside
            inside.add(key)
            for _ in range(3):
                await trio.lowlevel.checkpoint()
            inside.remove(key)
            order.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(30):
            nursery.start_soon(enter, "ab"[number % 2], number)
            await trio.lowlevel.checkpoint()
    assert sorted(order) == list(range(30))
    assert [number for number in order if number % 2] == list(range(1, 30, 2))
    assert len(turnstile) == 0


async def test_one_that_gives_up_or_fails_leaves_the_way_free():
    turnstile = Turnstile()
    async with turnstile.turn("a"):
        with trio.move_on_after(0) as waiting:
            async with turnstile.turn("a"):
                raise AssertionError("both are inside")
        assert waiting.cancelled_caught
    try:
        async with turnstile.turn("a"):
            raise ValueError
    except ValueError:
        pass
    async with turnstile.turn("a"):
        assert len(turnstile) == 1
    assert len(turnstile) == 0
