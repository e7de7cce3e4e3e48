"""What the pipeline makes of a WebSocket handshake that it lets pass; a carrier accepts it."""

from collections.abc import Awaitable
from dataclasses import dataclass

from routes.edge.declare.endpoint import StreamHandler
from routes.edge.listener import Listener
from routes.edge.outgoing import Headers
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts
from routes.edge.websocket.socket import LiveSocket


@dataclass(frozen=True, slots=True)
class Opening:
    """A WebSocket handshake that passed every check and is to be accepted.

    Args:
        call: of the stream.
        subprotocol: to select, or None.
        headers: of the 101 response.
        handler: as declared.
        arguments: of the handler, beside call and socket.
        greets: as declared.
    """

    call: Call[Parts]
    subprotocol: str | None
    headers: Headers
    handler: StreamHandler
    arguments: dict[str, object]
    greets: bool = False

    def run(self, socket: LiveSocket) -> Awaitable[Listener | None]:
        """Call the declared handler.

        Args:
            socket: accepted, open.
        """
        return self.handler(self.call, socket, **self.arguments)
