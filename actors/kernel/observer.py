"""What a tracer can see of turns. In a system without an observer none of this costs anything."""

from collections.abc import Sequence
from typing import Protocol


class ObservedTurn(Protocol):
    """One turn, from its first letter to its end; the methods are called in this order, in the trio thread."""

    def committing(self) -> None:
        """The turn was decided and has been handed to the writer; not called where nothing of it is durable."""
        ...

    def committed(self, failure: Exception | None) -> None:
        """The writer has answered: with `failure`, or None when the turn is on disk."""
        ...

    def publishing(self, events: int, subscribers: int) -> None:
        """The turn takes effect: callers are answered, and subscribers and followers told.

        Args:
            events: how many events the turn has made.
            subscribers: how many subscribers the owner's channel has.
        """
        ...

    def published(self) -> None:
        """Callers, subscribers and followers have been told, or will be by tasks of their own."""
        ...

    def end(self) -> None:
        """The turn is over; nothing follows."""
        ...


class Observer(Protocol):
    """Is told of turns. Its time is added to every turn, and it must not raise."""

    def cause(self) -> object | None:
        """What the caller of this moment is doing, for the turn that decides its command; None for nothing."""
        ...

    def begin(self, kind: str, id: str, *, letters: int, causes: Sequence[object]) -> ObservedTurn:
        """A turn begins.

        Args:
            kind, id: the kind's name and the id of the owner.
            letters: how many letters are decided together.
            causes: what `cause` returned when these letters were delivered.
        """
        ...
