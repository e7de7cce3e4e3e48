"""The clock of a service that a test moves on."""

from tests.support.hurry import hurried_clock


class ShiftedClock:
    """The system's time, which a test may move forward and stop.

    Attributes:
        leaps: how often time has gone on without the service.
    """

    def __init__(self) -> None:
        self.leaps = 0
        self._system = hurried_clock()
        self._stopped_at_ms: int | None = None
        self._ahead_ms = 0

    def now_ms(self) -> int:
        at_ms = self._system.now_ms() if self._stopped_at_ms is None else self._stopped_at_ms
        return at_ms + self._ahead_ms

    def stop(self) -> None:
        """Let time pass from now on by `advance` alone: for tests of rates, or where something must not end too soon.

        Whatever waits for a moment, such as the next frame of a view that has just sent one, then waits for ever.
        """
        self._stopped_at_ms = self._system.now_ms()

    def advance(self, ms: int) -> None:
        """Let so much time pass for every rule at once; timers that wait for it do not notice (`World.advance`)."""
        self._ahead_ms += ms

    def sleep(self, ms: int) -> None:
        """Let so much time pass while the machine sleeps, and know of it as the system's clock does."""
        self._ahead_ms += ms
        self.leaps += 1
