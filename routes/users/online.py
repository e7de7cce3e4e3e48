"""Derives presence from live sockets: a user is online while one of their sockets is open."""

from actors.ids import is_uuid
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.roaming import roaming_over
from actors.users.presence import Presence
from actors.users.users import Users
from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import Sockets
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


def roam(peers: Peers, sockets: Sockets, presence: Presence) -> None:
    """Tell other nodes whose sockets are open here, and hear of theirs."""
    roaming = roaming_over(peers, TOPIC, presence)

    def opened(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.opened(socket.user_id)

    def closed(socket: LiveSocket) -> None:
        if socket.user_id is not None and is_uuid(socket.user_id):
            roaming.closed(socket.user_id)

    sockets.follow(opened, closed)
