"""How much a client may say on one socket (contract §3: live commands 120/60 s).

A command too many is refused with `RATE_LIMITED` and does nothing; a client that then goes on is not
listening, and is closed with 4429. So a short burst costs a client its surplus, a flood its socket.
"""

from enum import Enum

from routes.edge.limits import POLICIES, Limits

REFUSALS_BEFORE_CLOSE = 20
"""Commands in a row that are refused before the socket is closed."""


class Verdict(Enum):
    """What becomes of a command."""

    GO_ON = "go on"
    REFUSE = "refuse"
    CLOSE = "close"


class Pace:
    """The bucket of one socket.

    Args:
        limits: of the process.
        session_id: of the socket.
    """

    __slots__ = ("_key", "_limits", "_refused", "retry_after_ms")

    def __init__(self, limits: Limits, session_id: str) -> None:
        self._limits = limits
        self._key = session_id
        self._refused = 0
        self.retry_after_ms = 0
        """Until the next command may pass; of the last one that was refused."""

    def take(self, now_ms: int) -> Verdict:
        """Count one command.

        Args:
            now_ms: epoch milliseconds.
        """
        decision = self._limits.take(POLICIES["live-command"], self._key, now_ms)
        if decision.allowed:
            self._refused = 0
            return Verdict.GO_ON
        self._refused += 1
        self.retry_after_ms = decision.retry_after_ms
        return Verdict.CLOSE if self._refused > REFUSALS_BEFORE_CLOSE else Verdict.REFUSE
