"""Turns that take commands for streams: one at a time for a server, and again where one could not be taken."""

from collections.abc import Callable

import pytest

from actors.errors import NotFound, Overloaded
from actors.kernel.mailbox import Answer, Failure
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, OutcomeUnknown
from routes.connect.delivering import Deliveries


class Stage:
    """Turns that end when a test says so.

    Attributes:
        asked: the servers for which turns were asked, in order.
    """

    def __init__(self) -> None:
        self.streams = {"s"}
        self.deliveries = Deliveries(self.streams.__contains__)
        self.deliveries.begin(self._post)
        self.asked: list[str] = []
        self._answers: list[Callable[[Answer], None]] = []

    def _post(self, server_id: str, answered: Callable[[Answer], None]) -> None:
        self.asked.append(server_id)
        self._answers.append(answered)

    def end(self, error: Failure | None = None) -> None:
        """The oldest turn that is under way ends."""
        self._answers.pop(0)(Answer(None, error))


@pytest.mark.parametrize("error", [Overloaded(), DatabaseUnavailable("!"), OutcomeUnknown("?")])
def test_what_could_not_be_taken_is_asked_for_until_it_is(error: Failure) -> None:
    stage = Stage()
    stage.deliveries.deliver("s")
    for _ in range(2):
        stage.end(error)
        stage.deliveries.try_again()
    stage.end()
    stage.deliveries.try_again()
    assert stage.asked == ["s"] * 3


@pytest.mark.parametrize("error", [NotFound(), Fault()])
def test_what_would_only_fail_again_is_left(error: Failure) -> None:
    stage = Stage()
    stage.deliveries.deliver("s")
    stage.end(error)
    stage.deliveries.try_again()
    assert stage.asked == ["s"]


def test_nobody_takes_commands_for_a_stream_that_has_gone() -> None:
    stage = Stage()
    stage.deliveries.deliver("s")
    stage.end(Overloaded())
    stage.streams.clear()
    stage.deliveries.try_again()
    assert stage.asked == ["s"]


def test_events_that_come_while_a_turn_is_under_way_share_the_next() -> None:
    stage = Stage()
    for _ in range(3):
        stage.deliveries.deliver("s")
    assert stage.asked == ["s"]
    stage.end()
    assert stage.asked == ["s", "s"]
    stage.end()
    assert stage.asked == ["s", "s"]
