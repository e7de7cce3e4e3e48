"""What a unit of work has changed: its value for whoever asked, and what has happened for everybody else.

As an actor's `decide` returns events, so does a unit of work that changes rows. `routes/changes.py` commits it and
tells whoever reacts.
"""

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Change(Generic[T_co]):
    """The result of a unit of work.

    Args:
        value: for the caller.
        events: what has happened, in order; frozen, and true once the transaction is committed. By default nothing that
            anybody has to hear of.
    """

    value: T_co
    events: tuple[object, ...] = ()
