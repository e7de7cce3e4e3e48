"""How rules run what blocks: the caller hands them a function that does so."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class InThread(Protocol):
    """Runs a blocking function in a worker thread (`trio.to_thread.run_sync`)."""

    def __call__(self, blocking: Callable[[], Result], /) -> Awaitable[Result]:
        """Run `blocking` and return its result."""
        ...
