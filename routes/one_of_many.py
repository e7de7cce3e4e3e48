"""What a job does for one of many things: where that fails, the others have their turn all the same.

A job that ends at the first failure ends there each time, and never comes to what is behind it. Only a database that is
away ends a run, because the others would meet the same.
"""

from types import TracebackType

import structlog

from actors.errors import Refused
from actors.kernel.mailbox import Failure
from actors.kernel.supervisor import Fault
from persistence.errors import PASSING, PersistenceError

log = structlog.get_logger()


class OneOfMany:
    """A block whose failures are logged and kept here, instead of going further.

    What is in `PASSING` goes further, and so does cancellation.

    Args:
        doing: what the block does, for the log.
        about: the thing that it is done for, for the log.

    Attributes:
        failure: why it could not be done; None when it went well. A mistake of ours is a `Fault`.
    """

    def __init__(self, doing: str, about: str) -> None:
        self.failure: Failure | None = None
        self._doing = doing
        self._about = about

    def __enter__(self) -> "OneOfMany":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, PASSING):
            return False
        if isinstance(error, PersistenceError | Refused | Fault):
            self.failure = error
            reason = type(error).__name__
            log.warning("a step of a job is put off", doing=self._doing, about=self._about, reason=reason)
        else:
            self.failure = Fault()
            log.error("a step of a job failed", doing=self._doing, about=self._about, exc_info=error)
        return True
