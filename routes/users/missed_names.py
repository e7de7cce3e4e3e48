"""Tells of names that users were given while this process did not listen to PostgreSQL: before it began to, or while
its connection was lost. Announcements of that time never come.

    listens, and did at the look before   names of up to now were heard
    has (again) begun to listen           those given since the last such moment are read, and told as if just heard
"""

import trio

from actors.kernel.clock import Clock
from actors.users.users import Users
from persistence.bridge.database import Database
from persistence.users.names import renamed_since
from routes.jobs import BackgroundTask

LOOK_SECONDS = 10.0
"""How often it is noted that this process listens: longer than a lost connection may go unnoticed."""

SLACK_MS = 60_000
"""How long a name may be older than its commit: clocks differ, and a transaction takes its time."""

READ_TOGETHER = 100
"""Most names that are read at once."""


class MissedNames:
    """Reads names that may have been missed, and tells of them.

    Args:
        users: who tells of new names.
        database: the database, which says whether it is there.
        clock: the clock by which names are stored.
    """

    def __init__(self, users: Users, database: Database, clock: Clock) -> None:
        self._users = users
        self._database = database
        self._clock = clock
        self._sure_ms = clock.now_ms()  # what was committed before was heard, or never read
        self._was_there = False
        self._from_ms: int | None = None  # names since may have been missed; None: none was
        self._asked = trio.Event()
        self._meanwhile: set[str] = set()  # users of whom a new name was told
        users.on_rename(lambda user_id, _name: self._meanwhile.add(user_id))

    def heard(self, payload: str) -> None:
        """Note that names may have been missed, where a payload of `CHANNEL` is "", as after each beginning."""
        if not payload:
            self._miss(self._sure_ms - SLACK_MS)

    def task(self) -> BackgroundTask:
        """The task that tells of missed names."""
        return BackgroundTask("names that were missed", self._keep)

    async def _keep(self) -> None:
        while True:
            with trio.move_on_after(LOOK_SECONDS):
                await self._asked.wait()
            self._meanwhile.clear()
            if self._from_ms is None:
                self._look()
                continue
            from_ms, self._from_ms = self._from_ms, None
            self._asked = trio.Event()
            try:
                await self._tell(from_ms)
            except BaseException:
                self._miss(from_ms)
                raise

    def _miss(self, from_ms: int) -> None:
        self._from_ms = from_ms if self._from_ms is None else min(self._from_ms, from_ms)
        self._asked.set()

    def _look(self) -> None:
        # Twice, because the database is known to be there a moment before it is heard that listening has begun.
        is_there = self._database.available
        if is_there and self._was_there:
            self._sure_ms = self._clock.now_ms()
        self._was_there = is_there

    async def _tell(self, from_ms: int) -> None:
        after = from_ms, ""
        while True:
            self._meanwhile.clear()
            page = await self._database.read(renamed_since, *after, READ_TOGETHER)
            for one in page:
                # What was told while the rows were read is newer than they are.
                if one.id not in self._meanwhile:
                    self._users.tell_name(one.id, one.name)
            if len(page) < READ_TOGETHER:
                return
            after = page[-1].renamed_at_ms, page[-1].id
