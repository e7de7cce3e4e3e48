"""What the pipeline returns for a WebSocket handshake that passes; the carrier then accepts it."""

from collections.abc import Awaitable
from dataclasses import dataclass

from routes.edge.declare.route import StreamHandler
from routes.edge.listener import Listener
from routes.edge.outgoing import Headers
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.websocket.socket import LiveSocket


@dataclass(frozen=True, slots=True)
class Opening:
    """A WebSocket handshake that passed every check and is to be accepted.

    Args:
        call: the stream's call.
        session_id: the unique id of the socket.
        subprotocol: the subprotocol to select, or None.
        headers: the headers of the 101 response.
        handler: the declared handler.
        arguments: the handler's arguments beside call and socket, by name.
        greets: whether the handler sends a frame before it waits for anything (`Stream`).
    """

    call: Call[Parts]
    session_id: str
    subprotocol: str | None
    headers: Headers
    handler: StreamHandler
    arguments: dict[str, object]
    greets: bool = False

    def run(self, socket: LiveSocket) -> Awaitable[Listener | None]:
        """Call the declared handler.

        Args:
            socket: the accepted, open socket.
        """
        return self.handler(self.call, socket, **self.arguments)
