"""The phase of the process, for `/ready`, `/health` and everything that must stop when it drains; and its hard end."""

from enum import Enum

import trio

HARD_EXIT_CODE = 130
"""Exit code of a process that received a second signal to stop, a keeper included."""


class Phase(Enum):
    """The three states of a process that serves; they only move forward."""

    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"


END_SECONDS = 28.0
"""From being asked to stop to the end of the process, which may take 30 s in all (contract §11)."""


class Lifecycle:
    """The phase of the process, and the event that it drains.

    Args:
        started_at_ms: epoch milliseconds of the process's start.
    """

    def __init__(self, started_at_ms: int) -> None:
        self.started_at_ms = started_at_ms
        self.phase = Phase.STARTING
        self._drain = trio.Event()
        self._drained_at: float | None = None

    @property
    def draining(self) -> bool:
        """Whether the process was asked to stop."""
        return self.phase is Phase.DRAINING

    def serve(self) -> None:
        """Enter the serving phase: everything is open. Without effect if the process is draining already."""
        if self.phase is Phase.STARTING:
            self.phase = Phase.SERVING

    def drain(self) -> None:
        """Ask the process to stop; idempotent."""
        if self._drained_at is None:
            self._drained_at = trio.current_time()
        self.phase = Phase.DRAINING
        self._drain.set()

    def left_seconds(self) -> float:
        """How much of `END_SECONDS` is left, for what ends last; all of it before the process was asked to stop."""
        if self._drained_at is None:
            return END_SECONDS
        return max(0.0, self._drained_at + END_SECONDS - trio.current_time())

    async def wait_draining(self) -> None:
        """Wait until the process is asked to stop; returns at once if it was already."""
        await self._drain.wait()
