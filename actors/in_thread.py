"""How rules run blocking work: by a function that the caller passes in."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class InThread(Protocol):
    """Runs a blocking function in a worker thread (`trio.to_thread.run_sync`)."""

    def __call__(self, blocking: Callable[[], Result], /) -> Awaitable[Result]:
        """Run `blocking` and return its result."""
        ...
