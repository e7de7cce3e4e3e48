"""Derives presence from live sockets: a user is online while one of their sockets is open."""

from functools import partial

from actors.ids import is_uuid
from actors.kernel.nodes.peers import Peers
from actors.users.presence import Presence
from actors.users.roaming import TOPIC, Roaming
from actors.users.users import Users
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import Sockets
from routes.edge.websocket.socket import LiveSocket


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


def roam(peers: Peers, sockets: Sockets, presence: Presence) -> None:
    """Tell other nodes whose sockets are open here, and hear of theirs."""
    roaming = Roaming(presence, partial(peers.say_all, TOPIC))

    def opened(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.closed(socket.user_id)

    sockets.follow(opened, closed)
    follow_others(peers, TOPIC, roaming)


def follow_others(peers: Peers, topic: str, roaming: Roaming) -> None:
    """Tell nodes that are met who is here, and hear who is there.

    Args:
        peers: the other nodes.
        topic: what they are told about.
        roaming: who is where.
    """

    def met(node: str) -> None:
        for body in roaming.everybody():
            peers.say(node, topic, body)

    peers.on_met(met)
    peers.on_parted(roaming.parted)
    peers.hear_topic(topic, roaming.heard)
