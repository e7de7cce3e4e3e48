"""Follows what other processes change between users: announced changes are taken in, and what may have been missed is
read.
"""

import trio

from actors.friends.announcing import heard
from actors.friends.events import RelationChanged
from persistence.friends.turns import CHANNEL
from routes.friends.parts import FRIENDS_LIVE, read_stored
from routes.jobs import BackgroundTask
from routes.service import Service


def follow(service: Service) -> BackgroundTask:
    """Listen from now on; returns the task that reads again after a broken connection."""
    following = _Following(service)
    service.database.listen(CHANNEL, following.heard)
    return BackgroundTask("changes between users", following.keep)


class _Following:
    def __init__(self, service: Service) -> None:
        self._database = service.database
        self._live = service.of(FRIENDS_LIVE)
        self._missed = trio.Event()

    def heard(self, payload: str) -> None:
        event = heard(payload) if payload else None
        if event is None:
            self._missed.set()
        elif isinstance(event, RelationChanged):
            self._live.heard_relation(event)
        else:
            self._live.heard_link(event)

    async def keep(self) -> None:
        """Read all again whenever something may have been missed.

        Raises:
            PersistenceError: it cannot be read; called again then.
        """
        while True:
            await self._missed.wait()
            self._missed = trio.Event()
            try:
                await self._read_again()
            except BaseException:
                self._missed.set()
                raise

    async def _read_again(self) -> None:
        while True:
            told = self._live.told
            stored = await read_stored(self._database)
            # What was told of meanwhile may be newer than these rows.
            if self._live.told == told:
                self._live.restored(stored)
                return
