"""The single-purpose stream of a user's party (service description §6, contract §6)."""

from actors.party.public import PartySnapshot
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import AUTHENTICATED
from routes.edge.websocket.socket import LiveSocket
from routes.live.single import StreamQuery, show_own
from routes.party.parts import PARTY_KINDS


@stream("/v1/social/party/live", needs=AUTHENTICATED, sends=(PartySnapshot,))
async def party_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """The caller's party and invites at once, then whenever they have changed."""
    return await show_own(call, socket, call.service.of(PARTY_KINDS).own)
