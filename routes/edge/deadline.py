"""The end of a request's time, paid for by those who wait.

A cancel scope costs 5 µs, a third of what a small request costs in all, and most requests never wait. So the
scope is entered by the first who has to (`begin`).
"""

from types import TracebackType

import trio


class Deadline:
    """A cancel scope that is entered late; to be used in one `with` block.

    Args:
        at: trio's time.
    """

    __slots__ = ("_at", "_scope")

    def __init__(self, at: float) -> None:
        self._at = at
        self._scope: trio.CancelScope | None = None

    @property
    def at(self) -> float:
        """Trio's time at which it ends; infinity for streams, which last."""
        return self._at

    def move(self, at: float) -> None:
        """End at another time.

        Args:
            at: trio's time.
        """
        self._at = at
        if self._scope is not None:
            self._scope.deadline = at

    def begin(self) -> None:
        """To be called before anything is awaited that may wait, at the nesting of the `with` block: scopes and
        nurseries that were entered before it would have to be left after it. Harmless when repeated.
        """
        if self._scope is None:
            self._scope = trio.CancelScope(deadline=self._at)
            self._scope.__enter__()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """As of a cancel scope: what the deadline cancelled ends here, and the block was left early."""
        return self._scope is not None and self._scope.__exit__(kind, error, trace)
