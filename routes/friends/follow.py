"""Follows changes between users that other processes make: takes in announced changes, and reads rows where some may
have been missed.

Visibilities and blocks are read whole. Friendships in memory are compared with rows, some users at a time, and each
difference is told as if it had just happened, so that open sockets keep the friends that they show.
"""

import trio

from actors.friends.announcing import heard
from actors.friends.events import RelationChanged
from persistence.friends.turns import CHANNEL
from routes.friends.parts import FRIENDS_LIVE, read_stored
from routes.jobs import BackgroundTask
from routes.outdated import compare
from routes.service import Service


def follow(service: Service) -> BackgroundTask:
    """Listen from now on; returns the task that reads again after a broken connection, or the end of another node."""
    following = _Following(service)
    service.database.listen(CHANNEL, following.heard)
    if service.node is not None:
        # What open lists of friends show is compared then as all views are.
        service.node.membership.peers.on_parted(lambda _node: following.missed(shown=False))
    return BackgroundTask("changes between users", following.keep)


class _Following:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._live = service.of(FRIENDS_LIVE)
        self._woken = trio.Event()
        self._missed_friendships = self._missed_shown = False

    def heard(self, payload: str) -> None:
        event = heard(payload)
        if event == "unknown":
            self.missed(shown=True)
        elif event == "erased":
            # Who was erased is told by the node that has done it, with all friends; or else that node's end.
            self._woken.set()
        elif isinstance(event, RelationChanged):
            self._live.heard_relation(event)
        else:
            self._live.heard_link(event)

    def missed(self, *, shown: bool) -> None:
        """Have everything read again, because changes between users may have been missed.

        Args:
            shown: whether that holds for what open lists show as well.
        """
        self._missed_friendships = True
        self._missed_shown |= shown
        self._woken.set()

    async def keep(self) -> None:
        """Read everything again whenever changes may have been missed.

        Raises:
            PersistenceError: the rows cannot be read; the task is started again then.
        """
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            friendships, self._missed_friendships = self._missed_friendships, False
            shown, self._missed_shown = self._missed_shown, False
            try:
                with self._live.reading() as told:
                    stored = await read_stored(self._service.database)
                self._live.restored(stored, told)
                if friendships:
                    await self._live.compare_circles()
                if shown:
                    await compare(self._service, self._live.view)
            except BaseException:
                self._missed_friendships |= friendships
                self._missed_shown |= shown
                self._woken.set()
                raise
