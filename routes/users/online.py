"""Derives presence from live sockets: a user is online while one of their sockets is open."""

from collections.abc import Iterator, Mapping

import msgspec

from actors.ids import is_uuid
from actors.kernel.clock import Clock
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.roaming import TOLD_AT_ONCE, roaming_over
from actors.users.presence import Presence
from actors.users.users import Users
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import MAX_PER_USER, Sockets
from routes.edge.websocket.socket import LiveSocket

TOPIC = "presence"
"""What other nodes are told about: who has sockets open."""

GONE = "gone"
"""And when those went who have none."""

GONE_TOLD = 40_000
"""Of how many users that is told, 45 bytes each: what a link takes at once of what can be done without."""

_encode_gone = msgspec.msgpack.Encoder().encode
_decode_gone = msgspec.msgpack.Decoder(dict[str, int]).decode


def follow_sockets(sockets: Sockets, presence: Presence, users: Users) -> None:
    """Subscribe to opened and closed sockets: count those of users, and close one whose token was revoked meanwhile."""

    def opened(socket: LiveSocket) -> None:
        if socket.issued_at_s is not None and socket.issued_at_s < users.not_before_s(socket.user_id or ""):
            socket.close(CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        if socket.user_id is not None and is_uuid(socket.user_id):  # not of a game server
            presence.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            presence.closed(socket.user_id)

    sockets.follow(opened, closed)


def roam(own: str, peers: Peers, sockets: Sockets, presence: Presence, clock: Clock) -> None:
    """Tell other nodes whose sockets are open here, and hear of theirs; a user's cap is one for all nodes.

    A node that comes is told as well when users went who are on no node any more.

    Args:
        own: the name of this node.
        peers: the others.
        sockets: which are open here.
        presence: counts those of others.
        clock: of all rules.
    """
    times = _Times(presence, clock)
    roaming = roaming_over(peers, TOPIC, presence, times=times, counted=sockets.bound)

    def is_too_many(user_id: str, here: int) -> bool:
        there = roaming.elsewhere(user_id)
        return here + sum(there.values()) > MAX_PER_USER and closes(own, here, there)

    def opened(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.closed(socket.user_id)
            # What is still too much is closed by whoever has most now.
            sockets.bound(socket.user_id)

    def met(node: str) -> None:
        for body in told_gone(presence):
            peers.offer(node, GONE, body)

    sockets.share(is_too_many)
    sockets.follow(opened, closed)
    peers.on_met(met)
    peers.hear_topic(GONE, lambda _node, body: presence.learn_gone(_decode_gone(body)))


def told_gone(presence: Presence) -> Iterator[bytes]:
    """What a node is told that comes: when users went offline, the newest last."""
    gone = list(presence.gone().items())[-GONE_TOLD:]
    for first in range(0, len(gone), TOLD_AT_ONCE):
        yield _encode_gone(dict(gone[first : first + TOLD_AT_ONCE]))


class _Times:
    """Since when users are online, for other nodes."""

    def __init__(self, presence: Presence, clock: Clock) -> None:
        self._presence = presence
        self.now_ms = clock.now_ms

    def since_ms(self, user_id: str) -> int:
        return self._presence.told_since_ms(user_id) or 0


def closes(own: str, here: int, there: Mapping[str, int]) -> bool:
    """Whether this node, of all that have sockets of a user, is the one to close one: that with most, then the first by
    name.

    Args:
        own: the name of this node.
        here: sockets on it.
        there: {another node: sockets on it}.
    """
    return all((-here, own) < (-count, node) for node, count in there.items())
