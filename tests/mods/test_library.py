"""The library over real sockets: one request for all who ask the same, bounded memory, a catalogue that is silent."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import pytest
import trio
import trio.testing

from actors.mods.kept import ENTRY_BYTES, Failure, Reason
from routes.mods.budget import PER_MINUTE, UNDERWAY_MAX
from routes.mods.library import ModLibrary, Outcome
from routes.mods.searching import Wanted, gather
from routes.mods.source import SECONDS
from scripts.upstreams.http import Reply, Request
from scripts.upstreams.modrinth import ModrinthSite
from scripts.upstreams.mods import many
from tests.mods.play import body_of, failure_of, open_library, read
from tests.support.waiting import patience

CALLERS = 1_000


@dataclass
class Callers:
    """Those who ask a library, and what they were told."""

    library: ModLibrary
    outcomes: list[Outcome] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    async def ask(self, path: str, scope: trio.CancelScope | None = None) -> None:
        """Ask once; with a scope, as somebody who may go."""
        began = trio.current_time()
        with scope or trio.CancelScope():
            self.outcomes.append(await read(self.library, path))
            self.seconds.append(trio.current_time() - began)


class Failing(ModrinthSite):
    """It answers everything with one status."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self._status = status

    def found(self, request: Request) -> Reply:
        return self.failed(self._status)


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (ModrinthSite, None),
        (partial(Failing, 500), Reason.AWAY),
        (partial(Failing, 403), Reason.AWAY),
        (partial(Failing, 404), Reason.NOT_FOUND),
        (partial(Failing, 400), Reason.REFUSED),
    ],
)
async def test_a_thousand_callers_are_one_request(
    make: Callable[[], ModrinthSite], reason: Reason | None
) -> None:
    """While it fails, too, and afterwards, as long as that is remembered."""
    site = make()
    async with open_library(site) as library:
        held = site.faults.add("held")
        callers = Callers(library)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(callers.ask, "project/lanterns")
            with patience():
                await held.reached.wait()
            for _ in range(CALLERS - 1):
                nursery.start_soon(callers.ask, "project/lanterns")
            await trio.testing.wait_all_tasks_blocked()
            site.faults.release()
        callers.outcomes.append(await read(library, "project/lanterns"))
        assert len(callers.outcomes) == CALLERS + 1
        assert len(site.asked) == 1
        for outcome in callers.outcomes:
            assert (failure_of(outcome).reason if reason else body_of(outcome).content[:1]) == (
                reason or b"{"
            )


async def test_who_waits_for_somebody_who_goes_asks_for_itself() -> None:
    site = ModrinthSite()
    async with open_library(site) as library:
        held = site.faults.add("held")
        callers, scope = Callers(library), trio.CancelScope()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(callers.ask, "project/lanterns", scope)
            with patience():
                await held.reached.wait()
            nursery.start_soon(callers.ask, "project/lanterns")
            await trio.testing.wait_all_tasks_blocked()
            scope.cancel()
        (outcome,) = callers.outcomes
        assert body_of(outcome).content
        assert len(site.asked) == 2


async def test_memory_is_bounded_by_bytes() -> None:
    site = ModrinthSite(many(20))
    async with open_library(site, max_bytes=5 * (ENTRY_BYTES + 500)) as library:
        for number in range(100, 120):
            await read(library, f"project/example-{number}")
            assert library.kept.held_bytes <= 5 * (ENTRY_BYTES + 500)
        assert 3 <= len(library.kept) <= 6
        await read(library, "project/example-119")
        assert len(site.asked) == 20
        await read(library, "project/example-100")
        assert len(site.asked) == 21


async def test_a_catalogue_that_is_silent_for_a_minute(autojump_clock: trio.testing.MockClock) -> None:
    """No caller waits for more than five seconds, and no more requests are under way than may be."""
    autojump_clock.autojump_threshold = 0.02
    site = ModrinthSite(many(1))
    async with open_library(site, seconds=SECONDS) as library:
        assert body_of(await read(library, "project/example-100"))
        await trio.sleep(400)
        site.faults.add("never", times=10_000)
        callers = Callers(library)
        async with trio.open_nursery() as nursery:
            for second in range(60):
                for number in range(20):
                    nursery.start_soon(callers.ask, f"project/other-{second}-{number}")
                nursery.start_soon(callers.ask, "project/example-100")
                await trio.sleep(1)
        assert max(callers.seconds) < 5
        assert len(callers.outcomes) == 60 * 21
        stale = [one for one in callers.outcomes if not isinstance(one, Failure)]
        assert len(stale) == 60, "what was known is shown all the time"
        assert {failure_of(one).reason for one in callers.outcomes if one not in stale} == {Reason.AWAY}
        assert len(site.asked) <= 1 + PER_MINUTE + PER_MINUTE
        site.faults.clear()
        await trio.sleep(15)
        assert body_of(await read(library, "project/example-100"))


async def test_a_search_of_a_silent_catalogue_is_remembered_too(
    autojump_clock: trio.testing.MockClock,
) -> None:
    autojump_clock.autojump_threshold = 0.02
    site = ModrinthSite()
    async with open_library(site, seconds=SECONDS) as library:
        site.faults.add("never", times=2)
        for waited in (SECONDS, 0):
            began = trio.current_time()
            gathered = await gather(library, ["modrinth"], Wanted("map", None, None), 0, 10)
            assert gathered.failures["modrinth"].reason is Reason.AWAY
            assert trio.current_time() - began == pytest.approx(waited, abs=0.4)
        assert len(site.asked) == 1


async def test_no_more_are_under_way_than_may_be() -> None:
    site = ModrinthSite(many(60))
    async with open_library(site) as library:
        site.faults.add("held", times=60)
        callers = Callers(library)
        async with trio.open_nursery() as nursery:
            for number in range(100, 160):
                nursery.start_soon(callers.ask, f"project/example-{number}")
            await trio.testing.wait_all_tasks_blocked()
            assert len(callers.outcomes) == 60 - UNDERWAY_MAX
            assert {failure_of(one).reason for one in callers.outcomes} == {Reason.AWAY}
            site.faults.clear()
        assert len(site.asked) == UNDERWAY_MAX


async def test_the_budget_of_the_address() -> None:
    """Where others have used it up, nothing is sent until it is full again, and what is known is shown."""
    site = ModrinthSite(many(3))
    async with open_library(site) as library:
        site.remaining, site.reset = 0, 30
        assert body_of(await read(library, "project/example-100"))
        failure = failure_of(await read(library, "project/example-101"))
        assert (failure.reason, failure.upstream_status) == (Reason.AWAY, None)
        assert body_of(await read(library, "project/example-100"))
        assert (len(site.asked), len(library.kept)) == (1, 1), "what was not sent is not remembered"


@pytest.mark.parametrize(
    "fault", ["dropped", "cut", "endless", "encoded", "redirect", "html", "401", "410", "429", "502"]
)
async def test_whatever_goes_wrong_is_remembered(fault: str) -> None:
    site = ModrinthSite()
    async with open_library(site) as library:
        site.faults.add(fault)
        first = failure_of(await read(library, "project/lanterns"))
        assert first.reason is Reason.AWAY
        assert first.upstream_status == (int(fault) if fault.isdigit() else 200 if fault == "html" else None)
        assert await read(library, "project/lanterns") is first
        assert len(site.asked) == 1
