"""What somebody may see of turns who wants to trace them. A system without an observer has none of this in its way."""

from collections.abc import Sequence
from typing import Protocol


class ObservedTurn(Protocol):
    """One turn, from its first letter to its end; the methods are called in this order, in the trio thread."""

    def committing(self) -> None:
        """The turn was decided and has been handed to the writer; not called where nothing of it is durable."""
        ...

    def committed(self, failure: Exception | None) -> None:
        """The writer has answered; None when the turn is on disk."""
        ...

    def publishing(self, events: int, subscribers: int) -> None:
        """It takes effect: callers are answered, and subscribers and followers told.

        Args:
            events: how many have happened.
            subscribers: of the owner's channel.
        """
        ...

    def published(self) -> None:
        """All of them have been told, or will be by tasks of their own."""
        ...

    def end(self) -> None:
        """The turn is over; nothing follows."""
        ...


class Observer(Protocol):
    """Who sees turns. What it does takes from every turn, and must not raise."""

    def cause(self) -> object | None:
        """What the caller of this moment is doing, for the turn that decides its command; None for nothing."""
        ...

    def begin(self, kind: str, id: str, *, letters: int, causes: Sequence[object]) -> ObservedTurn:
        """A turn begins.

        Args:
            kind, id: of the owner.
            letters: how many are decided together.
            causes: what `cause` has said when they were delivered.
        """
        ...
