"""A live socket with permessage-deflate."""

from actors.kernel.sink import Prepared
from routes.edge.websocket.direct import DirectSocket
from routes.edge.websocket.packed import packed


class DeflatedSocket(DirectSocket):
    """A `DirectSocket` on which permessage-deflate was agreed; takes the same arguments."""

    __slots__ = ()

    def offer(self, prepared: Prepared) -> bool:
        """Send the messages compressed, or queue them; False when the queue is full (`Sink.offer`)."""
        return super().offer(packed(prepared))

    def hold(self, prepared: Prepared) -> None:
        """Hold the messages, compressed, until `release` (`LiveSocket.hold`)."""
        super().hold(packed(prepared))

    def _append(self, prepared: Prepared) -> None:
        super()._append(packed(prepared))
