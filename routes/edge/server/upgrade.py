"""The upgrade of an HTTP connection to a WebSocket with a live socket on it (RFC 9110 §7.8), after the handshake."""

from collections.abc import Callable

from actors.kernel.sink import Prepared
from routes.edge.contained import contained
from routes.edge.pipeline.opening import Opening
from routes.edge.server.handover import Handover, Swept
from routes.edge.server.websocket import SocketConnection
from routes.edge.transport.handshake import acceptance
from routes.edge.websocket.bearer import bearer_of
from routes.edge.websocket.deflate import negotiate
from routes.edge.websocket.deflated import DeflatedSocket
from routes.edge.websocket.direct import DirectSocket


async def take_over(handover: Handover, opening: Opening, *, taken: Callable[[Swept], None]) -> None:
    """Accept a WebSocket and open its stream, which goes on without this task.

    An exception of the stream's handler is reported, and closes it with 1011; so does cancellation, which passes.

    Args:
        handover: the parts of the HTTP connection.
        opening: the accepted handshake.
        taken: called first, with the new owner of the connection.
    """
    extension = negotiate(handover.extensions) if handover.settings.deflate else None
    connection = SocketConnection(handover, deflates=extension is not None)
    taken(connection)
    call = opening.call
    socket = (DirectSocket if extension is None else DeflatedSocket)(
        connection,
        opening.session_id,
        bearer_of(call.principal),
    )
    subprotocol = None if opening.subprotocol is None else opening.subprotocol.encode()
    response = acceptance(handover.key, subprotocol=subprotocol, extension=extension, headers=opening.headers)
    if opening.greets and not handover.early:
        socket.hold(Prepared((), response))
    else:
        connection.writer.write(response)  # the client's early frames may be answered at once
    connection.accept(socket, handover.early)
    call.service.sockets.add(socket)
    with contained(handover.report):
        await socket.run(opening.run)
