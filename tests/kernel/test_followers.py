"""Memory that follows an owner hears what is committed, its news first, and what it may have missed."""

import dataclasses
from functools import partial

import pytest
from trio.testing import MockClock

from actors.errors import Conflict
from actors.kernel.facets import Followers, News
from persistence.errors import (
    DatabaseUnavailable,
    Fenced,
    OutcomeUnknown,
)
from tests.kernel.conftest import open_stage
from tests.kernel.ledger import (
    KIND,
    Changed,
    Deposit,
    Promote,
    Promoted,
    Withdraw,
)
from tests.support.simulation import Simulation


async def test_soft_memory_hears_what_is_committed(autojump_clock: MockClock, simulation: Simulation) -> None:
    heard: list[tuple[int, int]] = []
    followers = Followers(
        on_committed=lambda state, _event: heard.append((simulation.rows["ledger", "a"].total, state.total))
    )
    kind = dataclasses.replace(KIND, followers=followers)
    async with open_stage(simulation) as stage:
        ask = partial(stage.system.ask, kind, "a")
        await ask(Deposit("ann", 2))
        with pytest.raises(Conflict):
            await ask(Withdraw("ann", 3))
        await ask(Withdraw("ann", 1))
    assert heard == [(2, 2), (1, 1)]


async def test_memory_everywhere_hears_its_news_first(
    autojump_clock: MockClock, simulation: Simulation
) -> None:
    told: list[tuple[str, object]] = []
    followers = Followers(
        news=News(of=frozenset((Changed,)), hear=lambda id, event: told.append((id, event))),
        on_committed=lambda _state, event: told.append(("here", type(event))),
    )
    kind = dataclasses.replace(KIND, followers=followers)
    async with open_stage(simulation) as stage:
        await stage.system.ask(kind, "a", Deposit("ann", 2))
        await stage.system.ask(kind, "a", Promote("ben"))
    assert told == [("a", Changed("ann", 2)), ("here", Changed), ("here", Promoted)]


@pytest.mark.parametrize(
    ("fate", "error", "unsure"),
    [
        ("unknown_landed", OutcomeUnknown, True),
        ("unknown_lost", OutcomeUnknown, True),
        ("fenced", Fenced, True),
        ("fails", DatabaseUnavailable, False),
    ],
)
async def test_soft_memory_hears_of_what_it_may_have_missed(
    simulation: Simulation, fate: object, error: type[Exception], *, unsure: bool
) -> None:
    heard: list[str] = []
    kind = dataclasses.replace(KIND, followers=Followers(on_outcome_unknown=heard.append))
    async with open_stage(simulation) as stage:
        ask = partial(stage.system.ask, kind, "a")
        await ask(Deposit("ann", 2))
        simulation.script.append(fate)  # type: ignore[arg-type]
        with pytest.raises(error):
            await ask(Deposit("ann", 1))
    assert heard == (["a"] if unsure else [])
