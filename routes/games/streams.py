"""The stream of who plays which game now (contract §10)."""

from actors.games.live import NAME, GamesSnapshot
from routes.call import Call
from routes.edge.declare.endpoint import stream
from routes.edge.listener import Listener
from routes.edge.principal import AUTHENTICATED
from routes.edge.websocket.socket import LiveSocket
from routes.games.parts import GAMES_LIVE
from routes.live.single import StreamQuery, show


@stream("/v1/games/live", needs=AUTHENTICATED, sends=(GamesSnapshot,))
async def games_live(call: Call, socket: LiveSocket, query: StreamQuery) -> Listener | None:  # noqa: ARG001
    """All games and how many play them at once, then when a number changes, at most one frame a second.

    A server counts for the game that its listed publication names as its category, else for that of its network's,
    while it is online and has said so in the last 90 seconds.
    """
    return await show(call, socket, call.service.of(GAMES_LIVE).view, NAME, viewer=None)
