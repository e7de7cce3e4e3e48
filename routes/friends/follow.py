"""Follows changes between users that other processes make: takes in announced changes, and reads rows where some may
have been missed.

Visibilities and blocks are read whole. Friendships in memory are compared with rows, some users at a time, and each
difference is told as if it had just happened, so that open sockets keep the friends that they show.
"""

import trio

from actors.friends.announcing import heard
from actors.friends.events import RelationChanged
from actors.friends.state import FriendsState
from actors.friends.view import EVERYTHING
from persistence.friends.turns import CHANNEL
from routes.friends.parts import FRIENDS_LIVE, read_stored
from routes.jobs import BackgroundTask
from routes.service import Service

COMPARED_TOGETHER = 200
"""Most lists of friends that are read at once."""


def follow(service: Service) -> BackgroundTask:
    """Listen from now on; returns the task that reads again after a broken connection, or the end of another node."""
    following = _Following(service)
    service.database.listen(CHANNEL, following.heard)
    if service.node is not None:
        service.node.membership.peers.on_parted(lambda _node: following.missed())
    return BackgroundTask("changes between users", following.keep)


class _Following:
    def __init__(self, service: Service) -> None:
        self._system, self._database = service.system, service.database
        self._live = service.of(FRIENDS_LIVE)
        self._woken = trio.Event()
        self._missed_friendships = False

    def heard(self, payload: str) -> None:
        event = heard(payload)
        if event == "unknown":
            self.missed()
        elif event == "erased":
            # Who was erased is told by the node that has done it, with all friends; or else that node's end.
            self._woken.set()
        elif isinstance(event, RelationChanged):
            self._live.heard_relation(event)
        else:
            self._live.heard_link(event)

    def missed(self) -> None:
        """Have everything read again, because changes between users may have been missed."""
        self._missed_friendships = True
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
            try:
                with self._live.reading() as told:
                    stored = await read_stored(self._database)
                self._live.restored(stored, told)
                if friendships:
                    await self._live.compare_circles()
                    await self._compare_views()
            except BaseException:
                self._missed_friendships |= friendships
                self._woken.set()
                raise

    async def _compare_views(self) -> None:
        """Have the open lists of friends that differ from rows read them again."""
        view = self._live.view
        open_ids = [shown.id for shown in self._system.live_views() if shown.view is view]
        for first in range(0, len(open_ids), COMPARED_TOGETHER):
            page = open_ids[first : first + COMPARED_TOGETHER]
            known = {id: self._peek(id) for id in page}
            stored = await self._database.read(self._live.load_many, page)
            outdated = [id for id in page if not _stands(known[id], self._peek(id), stored[id])]
            self._system.touched(view.name, outdated, EVERYTHING)

    def _peek(self, user_id: str) -> FriendsState | None:
        found: FriendsState | None = self._system.peek_view(self._live.view, user_id)
        return found


def _stands(before: FriendsState | None, after: FriendsState | None, stored: FriendsState) -> bool:
    """Whether a list of friends equals the rows, and did not change while these were read."""
    return before is not None and before is after and before.says_the_same(stored)
