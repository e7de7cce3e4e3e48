"""What fails for one of many things keeps the others from nothing, unless they would meet the same."""

import pytest
import trio

from actors.errors import Overloaded
from actors.kernel.supervisor import Fault
from persistence.errors import DatabaseUnavailable, HeadMoved, OutcomeUnknown, QueueFull, RowsRejected
from persistence.failing import Failing
from routes.jobs import OneOfMany


@pytest.mark.parametrize("error", [RowsRejected("!"), HeadMoved("!"), Overloaded(), Fault()])
def test_a_failure_is_known_afterwards(error: Exception) -> None:
    with OneOfMany("testing", "it", Failing()) as one:
        raise error
    assert one.failure is error


@pytest.mark.parametrize("error", [KeyError("!"), ExceptionGroup("!", [DatabaseUnavailable("!")])])
def test_a_mistake_of_ours_is_a_fault(error: Exception) -> None:
    with OneOfMany("testing", "it", Failing()) as one:
        raise error
    assert isinstance(one.failure, Fault)


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("!"), OutcomeUnknown("?"), QueueFull("!"), KeyboardInterrupt()]
)
def test_what_the_others_would_meet_goes_further(error: BaseException) -> None:
    with pytest.raises(type(error)), OneOfMany("testing", "it", Failing()):
        raise error


async def test_cancellation_goes_further() -> None:
    with trio.CancelScope() as scope:
        scope.cancel()
        with OneOfMany("testing", "it", Failing()) as one:
            await trio.lowlevel.checkpoint()
    assert scope.cancelled_caught
    assert one.failure is None
