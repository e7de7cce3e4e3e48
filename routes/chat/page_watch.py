"""A live stream of an older page (`beforeMs`): a new snapshot only when an item of the page changes (contract §4).

The conversation is watched in delta mode by a sink that is not a socket: it only learns which messages have changed, or
that older ones may have: history was imported, or a user erased. When one of them is or may be on the page, the page is
read again, at most once a second, and sent if its messages are others. The sink holds a flag, a digest and the ids of
the page, at most 120, so neither a busy conversation nor a slow reader makes it grow.
"""

from collections.abc import Awaitable, Callable
from hashlib import blake2b

import msgspec
import trio

from actors.chat.deltas import ROWS_REWRITTEN
from actors.errors import Refused
from actors.kernel.sink import Lagging, Prepared
from persistence.errors import PersistenceError
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.socket import LiveSocket

PAUSE_SECONDS = 1.0
"""Pause between two snapshots for one subscriber (contract §4)."""

ANYTHING = b""
"""Payload that means "any message may have changed": the page is read again."""


class Named(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of a Message that tell whether it belongs to a page."""

    id: str
    created_at_ms: int


class MessageList(msgspec.Struct, frozen=True):
    """The items of a MessagePage, as they are encoded; its other fields are not decoded."""

    items: msgspec.Raw


_named = msgspec.json.Decoder(Named)
_items = msgspec.json.Decoder(tuple[Named, ...])
_page = msgspec.json.Decoder(MessageList)


class TouchEnvelope:
    """Implements `Envelope`: renders changes as the messages that they concern, for `PageWatch`; never sent."""

    __slots__ = ()

    def snapshot(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int,  # noqa: ARG002
        skipped: int,  # noqa: ARG002
        data: object,  # noqa: ARG002
    ) -> Prepared:
        """Render any snapshot as `ANYTHING`; no argument (channel, epoch, offset, skipped, data) matters."""
        return Prepared((ANYTHING,), b"")

    def event(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int | None,  # noqa: ARG002
        name: str,
        data: object,
        *,
        self_: object | None,  # noqa: ARG002
    ) -> Prepared:
        """Render an event as the message that it carries, as `ANYTHING`, or as nothing.

        Args:
            name: the event's type.
            data: the encoded Message, of `message_*` and `poll_updated`.
            channel, epoch, offset, self_: not used.
        """
        if name == ROWS_REWRITTEN:
            return Prepared((ANYTHING,), b"")
        about_message = name.startswith("message_") or name == "poll_updated"
        return Prepared((bytes(data),) if about_message and isinstance(data, msgspec.Raw) else (), b"")


TOUCHES = TouchEnvelope()


class PageWatch:
    """Sends a page, and sends it again after its messages have changed.

    Implements `Sink`, and `Lagging` for a slow socket. It has a task while it reads and pauses, none while idle.

    Args:
        socket: where the page is sent.
        before_ms: the page has messages with a smaller `createdAtMs`, in epoch milliseconds.
        read: reads the page, encoded as JSON; may raise Refused and PersistenceError.
    """

    __slots__ = ("_before_ms", "_ids", "_newest_ms", "_read", "_sent", "_socket", "_touched", "_working")

    clear = True

    def __init__(self, socket: LiveSocket, before_ms: int, read: Callable[[], Awaitable[bytes]]) -> None:
        self._socket = socket
        self._before_ms = before_ms
        self._read = read
        self._ids: frozenset[str] = frozenset()
        self._newest_ms = -1
        self._sent = b""  # a digest of the messages that the client has
        self._touched = False
        self._working = False

    def offer(self, prepared: Prepared) -> bool:
        """Note whether the page has changed; always accepts, and keeps no payload.

        Every subscription begins with a snapshot, which counts as a change, so the page is sent at once.
        """
        if not self._touched and any(map(self._concerns, prepared.payloads)):
            self._touched = True
            self._begin()
        return True

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Call back at once: this sink is always writable, since `offer` always accepts."""
        lagging.catch_up()

    def end(self, channel: str, code: str) -> None:
        """End the subscription on the socket.

        Args:
            channel: the channel that ended.
            code: the reason: a refusal's code, or `INTERNAL`.
        """
        self._socket.end(channel, code)

    def catch_up(self) -> None:
        """The socket is writable again: send the page if it has changed meanwhile."""
        self._begin()

    def _concerns(self, payload: bytes) -> bool:
        if payload == ANYTHING:
            return True
        message = _named.decode(payload)
        # If `beforeMs` is in the future, new messages belong to the page as well.
        return message.id in self._ids or self._newest_ms < message.created_at_ms < self._before_ms

    def _begin(self) -> None:
        if self._working or not self._touched:
            return
        if self._socket.clear:
            self._working = True
            self._socket.start(self._work)
        else:
            self._socket.notify_when_writable(self)

    async def _work(self) -> None:
        while self._touched and self._socket.clear:
            self._touched = False
            await self._show()
            await trio.sleep(PAUSE_SECONDS)
        self._working = False
        self._begin()

    async def _show(self) -> None:
        try:
            page = await self._read()
        except Refused:
            # No longer a member: the subscription ends by itself and closes the socket.
            return
        except PersistenceError:
            # The database is unavailable: the page is read again after the pause.
            self._touched = True
            return
        encoded = _page.decode(page).items
        digest = blake2b(encoded, digest_size=16).digest()
        if digest == self._sent:
            return
        items = _items.decode(encoded)
        self._ids = frozenset(item.id for item in items)
        self._newest_ms = items[-1].created_at_ms if items else -1
        if self._socket.offer(prepare(msgspec.Raw(page))):
            self._sent = digest
        else:
            self._touched = True
