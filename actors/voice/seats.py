"""Seats on voice nodes: counted here, whatever nodes say, and kept before they are taken.

A session has a seat on the node of its channel, and somebody who is about to join has one kept; so that however many
join at once, never more than a node's capacity are given a token.
"""

from collections import Counter


class Seats:
    """The seats of all nodes."""

    def __init__(self) -> None:
        self._node_of: dict[str, str] = {}  # {user id: node id}
        self._taken: Counter[str] = Counter()
        self._kept: Counter[str] = Counter()
        self._in_doubt: dict[str, list[tuple[str, int]]] = {}  # {channel id: (node id, seats)}

    def taken(self, node_id: str) -> int:
        """Users with a session on the node."""
        return self._taken[node_id]

    def used(self, node_id: str) -> int:
        """Seats that are taken or kept."""
        return self._taken[node_id] + self._kept[node_id]

    def is_on(self, user_id: str, node_id: str) -> bool:
        """Whether the user has a seat on the node already, which their next session there takes over."""
        return self._node_of.get(user_id) == node_id

    def sit(self, user_id: str, node_id: str | None) -> None:
        """The user has their seat on this node now, and none elsewhere."""
        before = self._node_of.pop(user_id, None)
        if before is not None:
            _less(self._taken, before, 1)
        if node_id is not None:
            self._node_of[user_id] = node_id
            self._taken[node_id] += 1

    def keep(self, node_id: str, seats: int, capacity: int) -> bool:
        """Keep seats for those who come; returns False, and keeps none, where there are not as many.

        Args:
            seats: how many, 0 or more.
            capacity: of the node.
        """
        if self.used(node_id) + seats > capacity:
            return False
        self._kept[node_id] += seats
        return True

    def release(self, node_id: str, seats: int) -> None:
        """Keep them no longer: they are taken by now, or not wanted.

        Args:
            seats: as many as were kept.
        """
        _less(self._kept, node_id, seats)

    def doubt(self, channel_id: str, node_id: str, seats: int) -> None:
        """Go on keeping seats until it is known whether they were taken.

        Args:
            seats: as many as were kept.
        """
        self._in_doubt.setdefault(channel_id, []).append((node_id, seats))

    def settle(self, channel_id: str) -> None:
        """It is known who is in the channel: keep nothing for it any longer."""
        for node_id, seats in self._in_doubt.pop(channel_id, ()):
            self.release(node_id, seats)


def _less(counter: Counter[str], key: str, by: int) -> None:
    counter[key] -= by
    if counter[key] <= 0:
        del counter[key]
