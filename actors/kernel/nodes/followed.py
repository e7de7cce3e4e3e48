"""Which owners of this node are shown on others, and what those are told.

A node that follows an owner is told of each of its turns, once it is committed and its callers here and there are
answered. Following wakes nobody, and who follows is kept here and not in the actor, so owners come and go meanwhile. A
node for which too much waits follows nothing any more, and is told so: it holds up nobody.
"""

from collections.abc import Callable, Collection, Sequence
from sys import intern
from typing import Any, TypeAlias

from actors.kernel.nodes.entries import Dropped, Follow, Following, Stands, Turned, Unfollow, encode
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.whereabouts import Whereabouts
from persistence.nodes.members import Lease
from persistence.nodes.shards import shard_of

Key: TypeAlias = tuple[str, str]
"""(name of the kind, id)."""

Position: TypeAlias = Callable[[str, str], tuple[str, int] | None]
"""The epoch and version of an owner that lives here, by its kind's name and its id; None for one that does not."""


class Followed:
    """The owners of this node that others follow.

    Args:
        where: which node owns which shard.
        peers: the other nodes.
    """

    def __init__(self, where: Whereabouts, peers: Peers) -> None:
        self._where = where
        self._peers = peers
        self._position: Position = _nowhere
        self._nodes: dict[Key, tuple[str, ...]] = {}
        self._of_node: dict[str, set[Key]] = {}
        self.turns = 0
        """How many turns were told since the start, each counted once for every node that follows."""
        self.drops = 0
        """How often a node could not be told any more."""
        peers.hear(Follow, self._hear_follow)
        peers.hear(Unfollow, lambda node, entry: self._forget(node, (entry.kind, entry.id)))
        peers.on_parted(self._drop)
        where.on_moved(self._moved)

    def __len__(self) -> int:
        return len(self._nodes)

    def open(self, position: Position) -> None:
        """Be given the function that says where owners of this node stand; called once."""
        self._position = position

    # -- what owners have to say --------------------------------------------------------------------

    def turned(
        self,
        kind_name: str,
        id: str,
        place: tuple[str, int],
        *,
        is_durable: bool,
        events: Sequence[tuple[int | None, Any]],
    ) -> None:
        """Tell whoever follows an owner of a turn.

        Args:
            kind_name: the name of the owner's kind.
            place: the owner's epoch, and its version after the turn.
            is_durable: the turn is in rows.
            events: (offset, event) in order.
        """
        if (kind_name, id) not in self._nodes:
            return
        encoded: list[bytes] = []
        for _, event in events:
            if event.needs_rows:
                self._tell(kind_name, id, place, encode(Stands(kind_name, id, *place)))
                return
            encoded.append(encode(event))
        self._tell(kind_name, id, place, encode(Turned(kind_name, id, *place, is_durable, encoded)))

    def begun(self, kind_name: str, id: str, place: tuple[str, int]) -> None:
        """Tell whoever follows an owner where it stands, since it was loaded.

        Args:
            kind_name: the name of the owner's kind.
            place: the owner's epoch and version.
        """
        if (kind_name, id) in self._nodes:
            self._tell(kind_name, id, place, encode(Stands(kind_name, id, *place)))

    def _tell(self, kind_name: str, id: str, place: tuple[str, int], data: bytes) -> None:
        if self._peers.is_too_large(data):
            data = encode(Stands(kind_name, id, *place))
        for node in self._nodes[kind_name, id]:
            if self._peers.show(node, data):
                self.turns += 1
            else:
                self.drops += 1
                self._drop(node)
                self._peers.tell(node, Dropped())

    # -- who follows --------------------------------------------------------------------------------

    def _hear_follow(self, node: str, follow: Follow) -> None:
        kind_name, id = key = intern(follow.kind), follow.id
        shard = shard_of(kind_name, id)
        self._where.learn({shard: Lease(self._where.node, follow.fence)})
        if not self._where.is_here(kind_name, id):
            self._peers.tell(node, Following(follow.number, kind_name, id, False, "", -1))
            return
        nodes = self._nodes.get(key, ())
        if node not in nodes:
            self._nodes[key] = (*nodes, node)
            self._of_node.setdefault(node, set()).add(key)
        epoch, version = self._position(kind_name, id) or ("", -1)
        self._peers.tell(node, Following(follow.number, kind_name, id, True, epoch, version))

    def _forget(self, node: str, key: Key) -> None:
        self._of_node.get(node, set()).discard(key)
        left = tuple(one for one in self._nodes.get(key, ()) if one != node)
        if left:
            self._nodes[key] = left
        else:
            self._nodes.pop(key, None)

    def _drop(self, node: str) -> None:
        for key in self._of_node.pop(node, ()):
            self._forget(node, key)

    def _moved(self, shards: Collection[int]) -> None:
        """Forget who follows owners in shards that are another node's: they ask that one."""
        gone = {shard for shard in shards if shard not in self._where.fences}
        if gone and self._nodes:
            for key in [key for key in self._nodes if shard_of(*key) in gone]:
                for node in self._nodes.get(key, ()):
                    self._forget(node, key)


def _nowhere(_kind_name: str, _id: str) -> None:
    return None
