"""The messages that wait in user space for a client that takes less than it is sent."""

from actors.kernel.sink import Lagging, Prepared, Sink

OFFERS_MAX_MESSAGES = 64
OFFERS_MAX_BYTES = 256 * 1024
"""Bounds of the queue of a slow socket (reliability F5); a subscription that exceeds them lags and catches up later."""

REPLIES_MAX_BYTES = 1024 * 1024
"""Bytes of unread replies at which a client is closed; unlike an update, a reply is not replaced by a newer one."""


class Backlog:
    """The messages that wait for one socket, as numbers, and the subscriptions that were refused behind them.

    Attributes:
        messages: how many messages wait.
        size_bytes: how many bytes they have, with their frames.
        reply_bytes: how many bytes the replies among them have.
    """

    __slots__ = ("_lagging", "messages", "reply_bytes", "size_bytes")

    def __init__(self) -> None:
        self.messages = self.size_bytes = self.reply_bytes = 0
        self._lagging: dict[Lagging, None] | None = None

    @property
    def holds_back(self) -> bool:
        """Whether so much waits that the client's own messages wait as well."""
        return self.size_bytes > OFFERS_MAX_BYTES

    def has_room(self, prepared: Prepared) -> bool:
        """Whether messages of a channel may be queued too; replies always may, within their own bound."""
        return (
            self.messages + len(prepared.payloads) <= OFFERS_MAX_MESSAGES
            and self.size_bytes + len(prepared.wire) <= OFFERS_MAX_BYTES
        )

    def count_reply(self, prepared: Prepared) -> bool:
        """Count a reply that is to wait; False when more of them wait than may."""
        self.reply_bytes += len(prepared.wire)
        return self.reply_bytes <= REPLIES_MAX_BYTES

    def lags(self, lagging: Lagging) -> None:
        """Have a subscription catch up once everything queued was sent: each subscription once, in order."""
        if self._lagging is None:
            self._lagging = {}
        self._lagging[lagging] = None

    def catch_up(self, sink: Sink) -> None:
        """Let the subscriptions catch up in order, once everything was sent, until one of them fills the socket again.

        Args:
            sink: the socket, which has another backlog when it is full again.
        """
        for lagging in self._lagging or ():
            if sink.clear:
                lagging.catch_up()
            else:
                sink.notify_when_writable(lagging)
