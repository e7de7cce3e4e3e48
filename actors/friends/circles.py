"""Who is a friend of whom, in memory: chat asks it for each frame that shows one user to another.

A circle is read when its user first looks, and follows what is told of friendships from then on. Those of users with an
open socket stay; of the others as many as there is room for.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from sys import intern

from actors.kernel.joint_reads import JointReads
from actors.kernel.single_flight import SingleFlight
from actors.kernel.store import Store
from actors.meanwhile import Meanwhile
from persistence.friends import links

FRIENDS_KEPT = 1_000_000
"""Most friends in the circles of users without an open socket, 8 bytes each."""

COMPARED_TOGETHER = 200
"""Circles that one query reads when all are compared with rows."""

NOBODY: frozenset[str] = frozenset()


class Circles:
    """The friends of users, for those who look at others just now.

    Args:
        store: the database with the friendships.
        looking: whether the user with an id has an open socket; their circle stays in memory.
    """

    def __init__(self, store: Store, looking: Callable[[str], bool]) -> None:
        self._store = store
        self._looking = looking
        self._circles: dict[str, tuple[str, ...]] = {}  # {user id: friend ids}, the longest-known first
        self._friends = 0
        self._bound = FRIENDS_KEPT
        self._reads = JointReads(self._read_together)
        self._loads: SingleFlight[str, tuple[str, ...]] = SingleFlight()
        self._told: Meanwhile[str] = Meanwhile()

    def __len__(self) -> int:
        return len(self._circles)

    def knows(self, user_id: str) -> bool:
        """Whether the user's friends are in memory."""
        return user_id in self._circles

    async def learn(self, user_id: str) -> None:
        """Read the user's friends into memory, if they are not there.

        Raises:
            PersistenceError: the friends cannot be read. Cancellation ends the read, unless others wait for it.
        """
        while user_id not in self._circles:
            await self._loads.run(user_id, partial(self._read, user_id), partial(self._keep, user_id))

    def among(self, user_id: str, ids: Collection[str]) -> frozenset[str]:
        """Those of the users who are friends of this one; none while their friends are not in memory."""
        circle = self._circles.get(user_id)
        if not circle or not ids:
            return NOBODY
        return frozenset(ids).intersection(circle)

    def changed(self, one_id: str, other_id: str, *, friends: bool) -> Collection[str]:
        """Take in that two users are friends now (`friends` is True), or no longer; called after the commit.

        Returns: the ids of those of the two whose circle did not say that already, or is not in memory.
        """
        news: list[str] = []
        for user_id, friend_id in ((one_id, other_id), (other_id, one_id)):
            self._loads.void(user_id)
            self._told.told(user_id)
            circle = self._circles.get(user_id)
            if circle is None:
                news.append(user_id)
                continue
            if (friend_id in circle) == friends:
                continue
            news.append(user_id)
            if friends:
                self._replace(user_id, (*circle, friend_id))
            else:
                self._replace(user_id, tuple(id for id in circle if id != friend_id))
        return news

    async def compare(self, moved: Callable[[str, str], None]) -> None:
        """Take in what rows say of all circles, because changes may have been missed.

        Circles stay as they are until their rows are read, some at a time.

        Args:
            moved: called with the id of a user, and the id of another who has become their friend or is no longer one.

        Raises:
            PersistenceError: rows cannot be read; circles that were read before that are right.

        Cancellation leaves the others as they were.
        """
        self._loads.void_all()
        left = list(self._circles)
        while left:
            page, left = left[:COMPARED_TOGETHER], left[COMPARED_TOGETHER:]
            with self._told.reading() as told:
                found = await self._read_together(page)
            for user_id in page:
                if user_id in told:
                    left.append(user_id)
                elif (known := self._circles.get(user_id)) is not None:
                    self._replace(user_id, tuple(map(intern, found[user_id])))
                    for other_id in frozenset(known).symmetric_difference(found[user_id]):
                        moved(user_id, other_id)

    def _replace(self, user_id: str, circle: tuple[str, ...]) -> None:
        self._friends += len(circle) - len(self._circles[user_id])
        self._circles[user_id] = circle

    async def _read(self, user_id: str) -> tuple[str, ...]:
        return tuple(map(intern, await self._reads.read(user_id) or ()))

    async def _read_together(self, user_ids: Sequence[str]) -> dict[str, list[str]]:
        return await self._store.read(links.friend_ids, user_ids)

    def _keep(self, user_id: str, circle: tuple[str, ...]) -> None:
        self._circles[user_id] = circle
        self._friends += len(circle)
        if self._size() > self._bound:
            self._make_room(user_id)

    def _make_room(self, newest_id: str) -> None:
        """Let go of all that may go, down to half; looked for again when there is twice as much as must stay."""
        for known_id in tuple(self._circles):
            if self._size() <= FRIENDS_KEPT // 2:
                break
            if known_id != newest_id and not self._looking(known_id):
                self._friends -= len(self._circles.pop(known_id))
        self._bound = max(FRIENDS_KEPT, 2 * self._size())

    def _size(self) -> int:
        return self._friends + len(self._circles)
