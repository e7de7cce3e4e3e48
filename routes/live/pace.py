"""The rate limit of commands on one socket (contract §3: live commands 120/60 s).

A command beyond the limit is refused with `RATE_LIMITED` and has no effect. A client that goes on regardless is closed
with 4429. So a short burst only loses its surplus commands, a flood loses its socket.
"""

from enum import Enum

from routes.edge.limits import Limits
from routes.rates import LIVE_COMMAND

_POLICY = LIVE_COMMAND

REFUSALS_BEFORE_CLOSE = 20
"""Most refused commands in a row; the next one closes the socket."""


class Verdict(Enum):
    """What to do with a command."""

    GO_ON = "go on"
    REFUSE = "refuse"
    CLOSE = "close"


class Pace:
    """The bucket of one socket, and the bucket that all sockets of its owner share.

    Args:
        limits: the process's rate limits.
        owner: the key of the socket's owner (`Principal.key`).
    """

    __slots__ = ("_limits", "_meter", "_owner", "_refused", "retry_after_ms")

    def __init__(self, limits: Limits, owner: str) -> None:
        self._limits = limits
        self._owner = owner
        self._meter = limits.meter(_POLICY)
        self._refused = 0
        self.retry_after_ms = 0
        """How long to wait for the next command, as of the last refused one."""

    def take(self, now_ms: int) -> Verdict:
        """Count one command.

        Args:
            now_ms: epoch milliseconds.
        """
        wait_ms = self._meter.take(now_ms)
        if not wait_ms:
            refusal = self._limits.hold_up(_POLICY, self._owner, now_ms)
            if refusal is None:
                self._refused = 0
                return Verdict.GO_ON
            wait_ms = refusal.retry_after_ms
        self._refused += 1
        self.retry_after_ms = wait_ms
        return Verdict.CLOSE if self._refused > REFUSALS_BEFORE_CLOSE else Verdict.REFUSE
