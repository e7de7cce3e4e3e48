"""The restarts of an actor: what ended its activations, and what that means for the next one.

Pure: the time is passed in. How long faults pause an actor is `restart_policy.py`; most actors never have one, so the
policy is made with the first.
"""

from actors.kernel.restart_policy import RestartPolicy
from persistence.errors import DatabaseUnavailable, Fenced, OutcomeUnknown

# Pause before an actor with subscribers is loaded again when the database could not answer: everything has to work
# again within two seconds of the database's return.
RELOAD_MS = 500

# Failures that are not the fault of the actor, and do not count towards its restart policy.
BLAMELESS = (DatabaseUnavailable, Fenced)


class Restarts:
    """The restarts of one actor.

    Attributes:
        count: how many restarts there were.
        last_error: class name of the error before the last of them; None before the first.
        is_unsure: the last turn has an unknown outcome: until the head is sealed, it may still be committed.
    """

    __slots__ = ("_policy", "count", "is_unsure", "last_error")

    def __init__(self) -> None:
        self._policy: RestartPolicy | None = None
        self.count = 0
        self.last_error: str | None = None
        self.is_unsure = False

    @property
    def parked_until_ms(self) -> int:
        """Epoch milliseconds until which repeated faults have the actor refuse every command; 0 before the first."""
        return self._policy.parked_until_ms if self._policy is not None else 0

    def stopped(self, error: Exception) -> None:
        """Note what has ended an activation, or kept the actor from being loaded."""
        if isinstance(error, OutcomeUnknown | Fenced):
            # What another owner may have committed, or not, is not for us to find out.
            self.is_unsure = isinstance(error, OutcomeUnknown)

    def restart(self, error: Exception, now_ms: int) -> int:
        """Count a restart; returns for how many milliseconds the actor pauses before it.

        Args:
            error: why it is restarted.
            now_ms: epoch milliseconds.
        """
        self.count += 1
        self.last_error = type(error).__name__
        if isinstance(error, BLAMELESS):
            return RELOAD_MS
        if self._policy is None:
            self._policy = RestartPolicy()
        return self._policy.failed(now_ms)

    def forgiven(self, now_ms: int) -> bool:
        """True when the last fault or parking is so long ago, in epoch milliseconds, that it no longer counts."""
        return self._policy is None or self._policy.forgiven(now_ms)
