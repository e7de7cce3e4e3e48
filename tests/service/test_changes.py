"""The one way to change rows: who hears of it, and what is asked when nobody knows whether it was made."""

from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest
import trio
from trio.testing import MockClock

from actors.change import Change
from actors.errors import NotFound
from persistence.errors import DatabaseUnavailable, OutcomeUnknown, QueueFull, RowsRejected
from routes.changes import (
    Reaction,
    Reconciliation,
    change_by_itself,
    follow_others,
    reactions_of,
    reconcile,
    reconciliations_of,
)
from routes.reconciler import Reconciler
from routes.service import Service


class Made(NamedTuple):
    """An event."""

    name: str


class Shelf(NamedTuple):
    """A subject that rows can be asked about."""

    id: str


class Stage:
    """A service with two domains that hear of `Made`, and rows that answer or fail after the unit has run.

    Attributes:
        heard: what was told, in order.
        failure: what becomes of the next transaction.
    """

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.failure: BaseException | None = None
        self.faulty = False
        self.database = self
        self.reconciler = Reconciler()
        self.node = None
        self.reactions = reactions_of((Reaction(Made, self._first), Reaction(Made, self._second)))
        self.reconciliations = reconciliations_of([Reconciliation(Shelf, self._ask)])

    @property
    def service(self) -> Service:
        return cast("Service", self)

    async def transact(self, unit: Callable[..., Awaitable[object]], *args: object) -> object:
        made = await unit(None, *args)
        if self.failure is not None:
            raise self.failure
        return made

    def _first(self, _service: Service, event: Made) -> None:
        if self.faulty:
            raise ZeroDivisionError
        self.heard.append(f"first {event.name}")

    async def _second(self, _service: Service, event: Made) -> None:
        await trio.lowlevel.checkpoint()
        self.heard.append(f"second {event.name}")

    async def _ask(self, _service: Service, about: Shelf, events: Sequence[Any]) -> tuple[Made, ...]:
        return (Made(f"asked about {about.id} beside {len(events)}"),)


async def put(_conn: object, *names: str) -> Change[int]:
    return Change(len(names), tuple(map(Made, names)))


async def test_everybody_hears_in_order_before_the_caller_is_answered() -> None:
    stage = Stage()
    assert await change_by_itself(stage.service, put, "a", "b", about="x") == 2
    assert stage.heard == ["first a", "second a", "first b", "second b"]
    assert len(stage.reconciler) == 0


async def test_a_unit_that_nobody_has_to_hear_of_returns_its_value_alone() -> None:
    async def count(_conn: object) -> int:
        return 3

    assert await change_by_itself(Stage().service, count, about=None) == 3


@pytest.mark.parametrize("failure", [NotFound("!"), DatabaseUnavailable("!")])
async def test_nobody_hears_of_what_was_not_made(failure: Exception) -> None:
    stage = Stage()
    stage.failure = failure
    with pytest.raises(type(failure)):
        await change_by_itself(stage.service, put, "a", about=Shelf("x"))
    assert (stage.heard, len(stage.reconciler)) == ([], 0)


async def test_after_an_unknown_outcome_the_rows_are_asked() -> None:
    stage = Stage()
    stage.failure = OutcomeUnknown("?")
    with pytest.raises(OutcomeUnknown):
        await change_by_itself(stage.service, put, "a", about=Shelf("x"))
    assert stage.heard == []
    await reconcile(stage.service)
    assert stage.heard == ["first asked about x beside 1", "second asked about x beside 1"]
    assert len(stage.reconciler) == 0


async def test_where_nothing_has_to_be_asked_all_are_told_at_once_and_again() -> None:
    """What waits cannot be done while the caller leaves; it is done with the rest, a moment later."""
    stage = Stage()
    stage.failure = OutcomeUnknown("?")
    with pytest.raises(OutcomeUnknown):
        await change_by_itself(stage.service, put, "a", about="anything")
    assert stage.heard == ["first a"]
    await reconcile(stage.service)
    assert stage.heard == ["first a", "first a", "second a"]


async def test_who_is_cut_short_leaves_the_subject_in_doubt() -> None:
    stage, goes_on = Stage(), trio.Event()

    async def slow(_conn: object) -> Change[None]:
        await goes_on.wait()
        return Change(None)

    with trio.CancelScope() as scope:
        scope.cancel()
        await change_by_itself(stage.service, slow, about=Shelf("x"))
    assert scope.cancelled_caught
    await reconcile(stage.service)
    assert stage.heard == ["first asked about x beside 0", "second asked about x beside 0"]


async def test_a_reaction_that_fails_keeps_nobody_from_hearing() -> None:
    stage = Stage()
    stage.faulty = True
    assert await change_by_itself(stage.service, put, "a", about=Shelf("x")) == 1
    assert stage.heard == ["second a"]
    assert len(stage.reconciler) == 1  # memory is stale
    await reconcile(stage.service)
    assert (stage.heard[1:], len(stage.reconciler)) == (["second asked about x beside 1"], 1)
    stage.faulty = False
    await reconcile(stage.service)
    assert stage.heard[2:] == ["first asked about x beside 1", "second asked about x beside 1"]
    assert len(stage.reconciler) == 0


class Told:
    """A node that has been told of one event.

    Attributes:
        is_followed: set when memory has followed it.
    """

    def __init__(self) -> None:
        self.retelling = self
        self.events: list[object] = [Made("a")]
        self.is_followed = trio.Event()

    async def next(self) -> tuple[str, int, object]:
        if not self.events:
            await trio.sleep_forever()
        return "other", 1, self.events.pop()

    def followed(self, _node: str, _number: int) -> None:
        self.is_followed.set()


@pytest.mark.parametrize(
    ("failure", "tries"),
    [(DatabaseUnavailable("!"), 4), (QueueFull("!"), 4), (RowsRejected("!"), 1), (KeyError("!"), 1)],
)
async def test_what_another_node_tells_is_tried_while_the_database_is_away(
    autojump_clock: MockClock, nursery: trio.Nursery, failure: Exception, tries: int
) -> None:
    tried = []

    async def react(_service: Service, event: Made) -> None:
        tried.append(event)
        if len(tried) < 4:
            raise failure

    service = SimpleNamespace(node=Told(), memory_reactions=reactions_of([Reaction(Made, react)]))
    nursery.start_soon(follow_others, cast("Service", service))
    await service.node.is_followed.wait()
    assert len(tried) == tries
    nursery.cancel_scope.cancel()


def test_a_subject_is_asked_about_in_one_way() -> None:
    async def ask(_service: Service, _about: Shelf, _events: Sequence[Any]) -> tuple[object, ...]:
        return ()

    with pytest.raises(ValueError, match="Shelf"):
        reconciliations_of([Reconciliation(Shelf, ask), Reconciliation(Shelf, ask)])
