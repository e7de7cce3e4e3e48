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
"""The topic on which nodes tell each other whose sockets are open."""

GONE = "gone"
"""The topic on which a node tells when users without open sockets went offline."""

GONE_TOLD = 40_000
"""For how many users that is told at most, 45 bytes each: as much as a link takes at once of optional news."""

_encode_gone = msgspec.msgpack.Encoder().encode
_decode_gone = msgspec.msgpack.Decoder(dict[str, int]).decode


def follow_sockets(sockets: Sockets, presence: Presence, users: Users) -> None:
    """Subscribe to opened and closed sockets: count those of users, and close one whose token was revoked meanwhile."""

    def opened(socket: LiveSocket) -> None:
        if socket.issued_at_s is not None and socket.issued_at_s < users.not_before_s(socket.user_id or ""):
            socket.close(CloseCode.UNAUTHENTICATED, "UNAUTHENTICATED")
        if socket.user_id is not None and is_uuid(socket.user_id):  # else it is a game server's
            presence.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            presence.closed(socket.user_id)

    sockets.follow(opened, closed)


def roam(own: str, peers: Peers, sockets: Sockets, presence: Presence, clock: Clock) -> None:
    """Tell other nodes whose sockets are open here, and hear of theirs; a user's limit of sockets is for all nodes.

    A node that joins is also told when users who are on no node any more went offline.

    Args:
        own: the name of this node.
        peers: the other nodes.
        sockets: the sockets that are open on this node.
        presence: counts the sockets of other nodes as well.
        clock: tells the time.
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
            # If there are still too many, the node that now has most of them closes one.
            sockets.bound(socket.user_id)

    def met(node: str) -> None:
        for body in told_gone(presence):
            peers.offer(node, GONE, body)

    sockets.share(is_too_many)
    sockets.follow(opened, closed)
    peers.on_met(met)
    peers.hear_topic(GONE, lambda _node, body: presence.learn_gone(_decode_gone(body)))


def told_gone(presence: Presence) -> Iterator[bytes]:
    """What a node that joins is told: when users went offline, the newest last."""
    gone = list(presence.gone().items())[-GONE_TOLD:]
    for first in range(0, len(gone), TOLD_AT_ONCE):
        yield _encode_gone(dict(gone[first : first + TOLD_AT_ONCE]))


class _Times:
    """Tells other nodes since when users are online."""

    def __init__(self, presence: Presence, clock: Clock) -> None:
        self._presence = presence
        self.now_ms = clock.now_ms

    def since_ms(self, user_id: str) -> int:
        return self._presence.told_since_ms(user_id) or 0


def closes(own: str, here: int, there: Mapping[str, int]) -> bool:
    """Whether this node is the one to close a socket of a user: the node with most of the user's sockets, or of several
    such nodes the first by name.

    Args:
        own: the name of this node.
        here: how many of the user's sockets are on this node.
        there: {name of another node: how many are on it}.
    """
    return all((-here, own) < (-count, node) for node, count in there.items())
