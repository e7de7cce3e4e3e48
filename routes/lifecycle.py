"""Where the process stands between its start and its end, for `/ready`, `/health` and everything that must stop."""

from enum import Enum

import trio


class Phase(Enum):
    """The three states of a process that serves; they only move forward."""

    STARTING = "starting"
    SERVING = "serving"
    DRAINING = "draining"


class Lifecycle:
    """The phase, and the wish to end.

    Args:
        started_at_ms: epoch milliseconds of the process's start.
    """

    def __init__(self, started_at_ms: int) -> None:
        self.started_at_ms = started_at_ms
        self.phase = Phase.STARTING
        self._drain = trio.Event()

    @property
    def draining(self) -> bool:
        """True from the wish to stop until the end."""
        return self.phase is Phase.DRAINING

    def serve(self) -> None:
        """Everything is open: from here on the process is ready."""
        if self.phase is Phase.STARTING:
            self.phase = Phase.SERVING

    def drain(self) -> None:
        """Ask the process to stop; may be called again."""
        self.phase = Phase.DRAINING
        self._drain.set()

    async def wait_draining(self) -> None:
        """Wait until somebody asked the process to stop."""
        await self._drain.wait()
