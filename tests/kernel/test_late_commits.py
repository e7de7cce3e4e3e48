"""A commit that lands after its actor was told that nobody knows, and has read again from before it."""

import pytest
import trio
from trio.testing import MockClock

from persistence.errors import HeadMoved, OutcomeUnknown
from tests.kernel.conftest import Stage
from tests.kernel.ledger import KIND, Deposit, Read, Wave
from tests.support.simulation import LATE_SECONDS


async def test_no_turn_is_mixed_with_a_late_commit_that_it_did_not_see(
    autojump_clock: MockClock, stage: Stage
) -> None:
    await stage.ask(Deposit("ann", 1))
    stage.simulation.script.append("unknown_late")
    with pytest.raises(OutcomeUnknown):
        await stage.ask(Read("ann"))
    await stage.ask(Wave("ann"))  # loads the actor again, and writes nothing
    assert stage.system.peek(KIND, "a").reads == {}
    await trio.sleep(LATE_SECONDS * 2)
    assert stage.simulation.rows["ledger", "a"].reads == {"ann": 1}
    with pytest.raises(HeadMoved):
        await stage.ask(Read("bob"))
    await stage.ask(Read("bob"))
    assert stage.system.peek(KIND, "a").reads == {"ann": 1, "bob": 1}
    assert stage.simulation.rows["ledger", "a"].reads == {"ann": 1, "bob": 1}


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
