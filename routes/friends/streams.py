"""The single-purpose stream of friends (service description §6, contract §5)."""

from actors.friends.public import FriendsFrame
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.websocket.socket import LiveSocket
from routes.friends.channels import READ
from routes.friends.parts import FRIENDS_LIVE
from routes.live.single import StreamQuery, show_own


@stream("/v1/social/friends/live", needs=READ, sends=(FriendsFrame,))
async def friends_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """Friends and requests at once, then on change, at most one frame per 250 ms.

    Needs `social:friends.read`; losing it closes with 4403.
    """
    return await show_own(call, socket, call.service.of(FRIENDS_LIVE).view)
