"""The end of a request's time: nothing until somebody waits, and then what a cancel scope is."""

import pytest
import trio
import trio.testing

from routes.edge.deadline import Deadline


async def test_who_never_waits_is_never_late(autojump_clock: trio.testing.MockClock) -> None:
    deadline = Deadline(trio.current_time() + 1)
    with deadline:
        autojump_clock.jump(2)
    assert deadline.at == trio.current_time() - 1


async def test_waiting_ends_at_the_deadline(autojump_clock: trio.testing.MockClock) -> None:
    deadline = Deadline(trio.current_time() + 1)
    with deadline:
        deadline.begin()
        deadline.begin()
        await trio.sleep_forever()
    assert trio.current_time() == deadline.at


@pytest.mark.parametrize("begun", [False, True])
async def test_it_moves_before_and_after_it_has_begun(
    autojump_clock: trio.testing.MockClock, *, begun: bool
) -> None:
    deadline = Deadline(trio.current_time() + 1)
    with deadline:
        if begun:
            deadline.begin()
        deadline.move(deadline.at + 2)
        deadline.begin()
        await trio.sleep(2)
        await trio.sleep_forever()
    assert trio.current_time() == pytest.approx(deadline.at)


async def test_cancellation_from_outside_passes(autojump_clock: trio.testing.MockClock) -> None:
    deadline = Deadline(trio.current_time() + 10)
    with trio.move_on_after(1) as outer:
        with deadline:
            deadline.begin()
            await trio.sleep_forever()
        pytest.fail("nobody's deadline has come")
    assert outer.cancelled_caught


async def test_an_exception_within_a_deadline_passes() -> None:
    deadline = Deadline(trio.current_time() + 10)
    with pytest.raises(ZeroDivisionError), deadline:
        deadline.begin()
        raise ZeroDivisionError
