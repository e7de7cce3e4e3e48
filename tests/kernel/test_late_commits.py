"""A commit that lands after its actor was told that nobody knows, and has read again from before it."""

import pytest
import trio
from trio.testing import MockClock

from persistence.errors import OutcomeUnknown
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, Deposit, Read, Wave
from tests.support.simulation import LATE_SECONDS
from tests.support.sinks import Socket


async def test_a_commit_that_is_later_than_the_reload_never_lands(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append("unknown_late")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Read("ann"))
    await stage.ask(Wave("ann"))  # writes nothing; the actor was loaded again for it
    assert stage.system.peek(KIND, "a").reads == {}
    await trio.sleep(LATE_SECONDS * 2)
    assert stage.simulation.rows["ledger", "a"].reads == {}
    await stage.ask(Read("bob"))
    assert stage.system.peek(KIND, "a").reads == {"bob": 1}
    assert stage.simulation.rows["ledger", "a"].reads == {"bob": 1}


async def test_who_watches_sees_what_landed_although_nobody_asks_again(
    autojump_clock: MockClock, stage: Stage
) -> None:
    socket = Socket()
    await stage.watch(socket)
    stage.simulation.script.append("unknown_late")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 1))
    await trio.sleep(LATE_SECONDS + 1)
    assert socket.frames[-1]["offset"] == stage.simulation.heads["ledger", "a"].seq == 1
    assert stage.system.peek(KIND, "a").total == 1


async def test_an_actor_is_loaded_again_although_nobody_wants_it(
    autojump_clock: MockClock, stage: Stage
) -> None:
    stage.simulation.script.append("unknown_lost")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Deposit("ann", 1))
    stage.simulation.away = True
    await trio.sleep(3)
    assert stage.system.peek(KIND, "a") is None
    stage.simulation.away = False
    await trio.sleep(1)
    assert stage.system.peek(KIND, "a").total == 0


async def test_no_late_commit_lands_on_a_turn_that_came_first(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append("unknown_late")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Read("ann"))
    await stage.ask(Read("bob"))
    await trio.sleep(LATE_SECONDS * 2)
    await stage.ask(Read("cid"))
    assert stage.system.peek(KIND, "a").reads == {"bob": 1, "cid": 1}
    assert stage.simulation.rows["ledger", "a"].reads == {"bob": 1, "cid": 1}
