"""Derives presence from live sockets: a user is online while one of their sockets is open."""

from collections.abc import Mapping

from actors.ids import is_uuid
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.roaming import roaming_over
from actors.users.presence import Presence
from actors.users.users import Users
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import MAX_PER_USER, Sockets
from routes.edge.websocket.socket import LiveSocket

TOPIC = "presence"
"""What other nodes are told about: who has sockets open."""


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


def roam(own: str, peers: Peers, sockets: Sockets, presence: Presence) -> None:
    """Tell other nodes whose sockets are open here, and hear of theirs; a user's cap is one for all nodes.

    Args:
        own: the name of this node.
        peers: the others.
        sockets: which are open here.
        presence: counts those of others.
    """
    roaming = roaming_over(peers, TOPIC, presence, counted=sockets.bound)

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

    sockets.share(is_too_many)
    sockets.follow(opened, closed)


def closes(own: str, here: int, there: Mapping[str, int]) -> bool:
    """Whether this node, of all that have sockets of a user, is the one to close one: that with most, then the first by
    name.

    Args:
        own: the name of this node.
        here: sockets on it.
        there: {another node: sockets on it}.
    """
    return all((-here, own) < (-count, node) for node, count in there.items())
