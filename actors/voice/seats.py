"""Seats on voice nodes: counted here, whatever nodes report, and reserved before they are taken.

A session has a seat on the node of its channel, and somebody who is about to join has one kept; so that however many
join at once, never more than a node's capacity are given a token. A user has one seat on a node at most, however often
it is kept for them: a session that takes over another one needs no second seat, and a seat that is kept stays theirs
when the session ends under which they had it.
"""

from collections import Counter
from collections.abc import Collection, Hashable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)


class Seats:
    """The seats of all nodes."""

    def __init__(self) -> None:
        self._node_of: dict[str, str] = {}  # {user id: node id}
        self._taken: Counter[str] = Counter()
        # {(node id, user id): one for their session, and one each time a seat is kept}
        self._claims: Counter[tuple[str, str]] = Counter()
        self._used: Counter[str] = Counter()  # {node id: users who have claims}
        self._in_doubt: dict[str, list[tuple[str, Collection[str]]]] = {}  # {channel id: (node id, user ids)}

    def taken(self, node_id: str) -> int:
        """How many users have a session on the node."""
        return self._taken[node_id]

    def used(self, node_id: str) -> int:
        """How many seats of the node are taken or kept."""
        return self._used[node_id]

    def sit(self, user_id: str, node_id: str | None) -> None:
        """Note that a user has their seat on this node now, and on no other; None for no seat at all."""
        before = self._node_of.pop(user_id, None)
        if node_id is not None:
            self._node_of[user_id] = node_id
            self._taken[node_id] += 1
            self._claim(node_id, user_id)
        if before is not None:
            _less(self._taken, before)
            self._unclaim(before, user_id)

    def keep(self, node_id: str, user_ids: Collection[str], capacity: int) -> bool:
        """Keep seats for users who are about to join; returns False, and keeps none, if there are too few.

        Args:
            user_ids: the ids of these users, each once; one who has a seat on the node needs no other.
            capacity: how many seats the node has.
        """
        more = sum(1 for id in user_ids if not self._claims[node_id, id])
        if more and self._used[node_id] + more > capacity:
            return False
        for id in user_ids:
            self._claim(node_id, id)
        return True

    def release(self, node_id: str, user_ids: Collection[str]) -> None:
        """Keep seats no longer: they are taken by now, or not wanted.

        Args:
            user_ids: the ids of the users for whom they were kept.
        """
        for id in user_ids:
            self._unclaim(node_id, id)

    def doubt(self, channel_id: str, node_id: str, user_ids: Collection[str]) -> None:
        """Go on keeping seats until it is known whether they were taken.

        Args:
            channel_id: the channel that the users may have joined.
            user_ids: the ids of the users for whom they were kept.
        """
        self._in_doubt.setdefault(channel_id, []).append((node_id, user_ids))

    def settle(self, channel_id: str) -> None:
        """Keep no seats in doubt for a channel any longer, because it is known who is in it."""
        for node_id, user_ids in self._in_doubt.pop(channel_id, ()):
            self.release(node_id, user_ids)

    def _claim(self, node_id: str, user_id: str) -> None:
        self._claims[node_id, user_id] += 1
        if self._claims[node_id, user_id] == 1:
            self._used[node_id] += 1

    def _unclaim(self, node_id: str, user_id: str) -> None:
        _less(self._claims, (node_id, user_id))
        if not self._claims[node_id, user_id]:
            _less(self._used, node_id)


def _less(counter: Counter[Key], key: Key) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
