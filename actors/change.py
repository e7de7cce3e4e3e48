"""The result of a unit of work: the value for its caller, and the events for everything that reacts to the change.

A unit of work that changes rows returns events as an actor's `decide` does. `routes/changes.py` commits it and passes
the events to the reactions of all domains.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Change(Generic[T_co]):
    """The result of a unit of work.

    Args:
        value: the value for the caller.
        events: the events that have happened, in order; frozen, and valid once the transaction is committed. Empty when
            no domain reacts to the change.
    """

    value: T_co
    events: tuple[object, ...] = ()
