"""Users with live sockets on other nodes, so that they are online everywhere.

Each node tells of its own users, and of nobody else's: whom it has when it meets another node, and from then on who
comes and goes. So an entry has one writer, and what a node has told goes with it: its users are gone ten seconds after
it is dead, unless they have come elsewhere by then.
"""

from collections.abc import Callable

import msgspec

from actors.users.presence import Presence

TOPIC = "presence"


class Here(msgspec.Struct, frozen=True, array_like=True, tag="here"):
    """All users who have sockets on the node that says it."""

    user_ids: list[str]


class Came(msgspec.Struct, frozen=True, array_like=True, tag="came"):
    """A user has a socket there now."""

    user_id: str


class Went(msgspec.Struct, frozen=True, array_like=True, tag="went"):
    """A user has no socket there any more."""

    user_id: str


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Here | Came | Went).decode


class Roaming:
    """Who is where.

    Args:
        presence: counts a user once for each other node.
        tell_all: tells all other nodes something.
    """

    def __init__(self, presence: Presence, tell_all: Callable[[bytes], None]) -> None:
        self._presence = presence
        self._tell_all = tell_all
        self._own: dict[str, int] = {}  # {user id: open sockets here}
        self._others: dict[str, set[str]] = {}  # {node: its users}

    # -- here ---------------------------------------------------------------------------------------

    def opened(self, user_id: str) -> None:
        """Count a socket of this node; each call is matched by one of `closed`."""
        self._own[user_id] = self._own.get(user_id, 0) + 1
        if self._own[user_id] == 1:
            self._tell_all(_encode(Came(user_id)))

    def closed(self, user_id: str) -> None:
        """Count a socket of this node less."""
        self._own[user_id] -= 1
        if not self._own[user_id]:
            del self._own[user_id]
            self._tell_all(_encode(Went(user_id)))

    def everybody(self) -> bytes:
        """What a node is told that has just been met."""
        return _encode(Here(list(self._own)))

    # -- elsewhere ----------------------------------------------------------------------------------

    def heard(self, node: str, body: bytes) -> None:
        """Take in what another node tells of its users.

        Args:
            node: its name.
            body: as `everybody` and `tell_all` have it there.

        Raises:
            msgspec.DecodeError: it is of another release.
        """
        told = _decode(body)
        users = self._others.setdefault(node, set())
        match told:
            case Here():
                there = set(told.user_ids)
                self._come(users, there - users)
                self._go(users, users - there)
            case Came():
                self._come(users, {told.user_id} - users)
            case Went():
                self._go(users, {told.user_id} & users)

    def parted(self, node: str) -> None:
        """Forget a node that lives no more."""
        users = self._others.pop(node, set())
        self._go(users, set(users))

    def _come(self, users: set[str], user_ids: set[str]) -> None:
        users |= user_ids
        for user_id in user_ids:
            self._presence.opened(user_id)

    def _go(self, users: set[str], user_ids: set[str]) -> None:
        users -= user_ids
        for user_id in user_ids:
            self._presence.closed(user_id)
