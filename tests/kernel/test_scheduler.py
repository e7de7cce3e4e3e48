"""How turns of many owners take their turns, and when a caller hears that its own is over."""

import trio
from trio.testing import MockClock

from actors.kernel.mailbox import Answer
from actors.kernel.scheduler import STEPS_A_SLICE
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, ROWS, Deposit, Wave, Withdraw, slow_kind
from tests.support.sinks import Socket


async def test_a_caller_is_told_when_the_frames_are_out(autojump_clock: MockClock, stage: Stage) -> None:
    order: list[str] = []

    class Noting(Socket):
        def offer(self, prepared: object) -> bool:
            order.append("frame")
            return True

    await stage.watch(Noting())
    del order[:]
    for command in (Deposit("ann", 1), Withdraw("bob", 100), Deposit("ann", 1)):
        stage.system.post(
            KIND, "a", command, lambda _: order.append("answer"), after_frames=lambda: order.append("told")
        )
    await trio.sleep(1)
    assert order == ["answer", "answer", "answer", "frame", "told", "told", "told"]


async def test_a_caller_is_told_once_also_when_no_frame_follows(
    autojump_clock: MockClock, stage: Stage
) -> None:
    order: list[str] = []

    def post(command: object, name: str) -> None:
        stage.system.post(
            KIND,
            "a",
            command,
            lambda _: order.append(name),
            after_frames=lambda: order.append(f"{name} told"),
        )

    post(Withdraw("bob", 100), "refused")
    await trio.sleep(1)
    stage.simulation.script.append("fails")
    post(Deposit("ann", 1), "not committed")
    await trio.sleep(1)
    stage.simulation.delay_seconds = (7, 7)
    post(Deposit("ann", 1), "overdue")
    await trio.sleep(10)
    stage.simulation.script.append("unknown_lost")
    stage.simulation.delay_seconds = (0, 0)
    post(Deposit("ann", 1), "unknown")
    await trio.sleep(1)
    await stage.system.drain()
    post(Deposit("ann", 1), "late")
    names = ("refused", "not committed", "overdue", "unknown", "late")
    assert order == [word for name in names for word in (name, f"{name} told")]


async def test_a_caller_whose_end_raises_harms_nobody(autojump_clock: MockClock, stage: Stage) -> None:
    def broken() -> None:
        raise ZeroDivisionError

    told: list[Answer] = []
    stage.system.post(KIND, "a", Deposit("ann", 1), told.append, after_frames=broken)
    assert await stage.ask(Deposit("ann", 1)) == 2
    assert told == [Answer(1, None)]


async def test_live_owners_have_no_task(autojump_clock: MockClock, stage: Stage) -> None:
    def tasks() -> int:
        return trio.lowlevel.current_statistics().tasks_living

    before = tasks()
    for id in "ab":
        await stage.ask(Deposit("ann", 1), id)
    await trio.testing.wait_all_tasks_blocked()
    assert tasks() == before


async def test_many_owners_share_the_thread_with_others(autojump_clock: MockClock, stage: Stage) -> None:
    """Between slices of turns whoever else is ready runs."""
    ids = [f"n{n}" for n in range(100)]
    for id in ids:
        await ROWS.create(stage.simulation, id)
        await stage.ask(Wave("ann"), id)
    rounds = answered = 0
    seen: list[int] = []

    def answer(_: Answer) -> None:
        nonlocal answered
        answered += 1
        seen.append(rounds)

    for id in ids:
        stage.system.post(KIND, id, Wave("ann"), answer)
    while answered < len(ids):
        await trio.lowlevel.checkpoint()
        rounds += 1
    assert max(seen.count(one) for one in seen) <= 2 * STEPS_A_SLICE


async def test_steps_that_take_long_let_others_run_in_between(
    autojump_clock: MockClock, stage: Stage
) -> None:
    """Of owners whose every step takes 6 ms, two take one between two checkpoints."""
    slow = slow_kind(autojump_clock, 0.006)
    ids = [f"n{n}" for n in range(10)]
    for id in ids:
        await ROWS.create(stage.simulation, id)
        await stage.system.ask(slow, id, Wave("ann"))
    rounds = 0
    seen: list[int] = []
    for id in ids:
        stage.system.post(slow, id, Wave("ann"), lambda _: seen.append(rounds))
    while len(seen) < len(ids):
        await trio.lowlevel.checkpoint()
        rounds += 1
    assert max(seen.count(one) for one in seen) <= 4
