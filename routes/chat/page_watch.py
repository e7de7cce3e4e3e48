"""A live stream of an older page (`beforeMs`): a new snapshot only when an item of the page changes (contract
§4).

The conversation is watched in delta mode by a sink that is no socket: it only learns which messages were
touched. When one of the page was, the page is read again and sent, at most once a second. What the sink
keeps is a flag, a digest and the ids of the page, at most 120, so neither a busy conversation nor a slow reader
makes it grow.
"""

from collections.abc import Awaitable, Callable
from hashlib import blake2b

import msgspec
import trio

from actors.errors import Refused
from actors.kernel.sink import Lagging, Prepared
from persistence.errors import PersistenceError
from routes.edge.websocket.frames import prepare
from routes.edge.websocket.socket import LiveSocket

PAUSE_SECONDS = 1.0
"""Between two snapshots of one subscriber (contract §4)."""

ANYTHING = b""
"""Stands for a change of unknown extent: the page is read again."""


class Named(msgspec.Struct, frozen=True, rename="camel"):
    """What of a Message tells whether it belongs to a page."""

    id: str
    created_at_ms: int


class MessageList(msgspec.Struct, frozen=True):
    """What of a MessagePage tells its items."""

    items: tuple[Named, ...]


_named = msgspec.json.Decoder(Named)
_page = msgspec.json.Decoder(MessageList)


class TouchEnvelope:
    """Names the messages that changed, for this process alone; implements `Envelope`. It is never sent."""

    __slots__ = ()

    def snapshot(
        self,
        channel: str,  # noqa: ARG002
        epoch: str,  # noqa: ARG002
        offset: int,  # noqa: ARG002
        skipped: int,  # noqa: ARG002
        data: object,  # noqa: ARG002
    ) -> Prepared:
        """Anything may have changed."""
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
        """The message's bytes, for events that carry one."""
        about_message = name.startswith("message_") or name == "poll_updated"
        return Prepared((bytes(data),) if about_message and isinstance(data, msgspec.Raw) else (), b"")


TOUCHES = TouchEnvelope()


class PageWatch:
    """Shows a page, again whenever it was touched; implements `Sink`, and `Lagging` where its socket is slow.

    It has a task while it reads and for the pause behind that, and none while nothing is touched.

    Args:
        socket: that the page is for.
        before_ms: the page's exclusive bound.
        read: the page, encoded; raises Refused and PersistenceError.
    """

    __slots__ = ("_before_ms", "_ids", "_newest_ms", "_read", "_sent", "_socket", "_touched", "_working")

    clear = True

    def __init__(self, socket: LiveSocket, before_ms: int, read: Callable[[], Awaitable[bytes]]) -> None:
        self._socket = socket
        self._before_ms = before_ms
        self._read = read
        self._ids: frozenset[str] = frozenset()
        self._newest_ms = -1
        self._sent = b""  # a digest of the page that the client has
        self._touched = False
        self._working = False

    def offer(self, prepared: Prepared) -> bool:
        """Never full: looks, and forgets. The snapshot that every subscription begins with touches everything,
        so that the page is shown at once."""
        if not self._touched and any(map(self._concerns, prepared.payloads)):
            self._touched = True
            self._begin()
        return True

    def notify_when_writable(self, lagging: Lagging) -> None:
        """Never asked: nothing is ever refused here."""
        lagging.catch_up()

    def end(self, channel: str, code: str) -> None:
        """The viewer may no longer look."""
        self._socket.end(channel, code)

    def catch_up(self) -> None:
        """The socket has taken what waited: what was touched meanwhile is shown now."""
        self._begin()

    def _concerns(self, payload: bytes) -> bool:
        if payload == ANYTHING:
            return True
        message = _named.decode(payload)
        # With a bound in the future, what is sent now belongs to the page as well.
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
            # No longer a member: the subscription says so, and closes the socket.
            return
        except PersistenceError:
            # The database is away: the page is read again after the pause.
            self._touched = True
            return
        digest = blake2b(page, digest_size=16).digest()
        if digest == self._sent:
            return
        items = _page.decode(page).items
        self._ids = frozenset(item.id for item in items)
        self._newest_ms = items[-1].created_at_ms if items else -1
        if self._socket.offer(prepare(msgspec.Raw(page))):
            self._sent = digest
        else:
            self._touched = True
