"""Changes of which nobody knows whether they were made: the connection was lost while they were committed.

Memory beside the rows (who hides from whom, who may write to whom) follows what is known to be committed. After such a
change it asks the rows, until they answer.
"""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

import structlog
import trio

from actors.errors import Refused
from persistence.errors import OutcomeUnknown

MAX_OPEN = 10_000
"""Doubts at once; what comes beyond is right again when the process starts anew."""

Settle: TypeAlias = Callable[[], Awaitable[None]]
"""Asks the rows and tells memory; raises PersistenceError when they cannot be asked, Refused when an owner cannot."""

log = structlog.get_logger()


class Doubts:
    """What has to be asked."""

    def __init__(self) -> None:
        self._open: dict[str, Settle] = {}

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def unless_known(self, about: str, settle: Settle) -> Iterator[None]:
        """Around a transaction: where its outcome stays unknown, memory asks.

        Args:
            about: the same for all changes that the same question answers.
        """
        try:
            yield
        except (OutcomeUnknown, trio.Cancelled):
            self.add(about, settle)
            raise

    def add(self, about: str, settle: Settle) -> None:
        """Something may have been changed."""
        if about in self._open or len(self._open) < MAX_OPEN:
            self._open[about] = settle
        else:
            log.warning("too many changes whose outcome is unknown", open=MAX_OPEN)

    async def settle(self) -> None:
        """Ask whatever is open.

        Raises:
            PersistenceError: the rows cannot be asked; what was not settled stays open.
        """
        for about, settle in tuple(self._open.items()):
            try:
                await settle()
            except Refused:  # whoever is asked is not to be had now
                continue
            if self._open.get(about) is settle:
                del self._open[about]
