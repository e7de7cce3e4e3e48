"""A live stream of an older page (`beforeMs`): a new snapshot only when an item of the page changes (contract
§4).

The conversation is watched in delta mode by an outlet that is no socket: it only learns which messages were
touched. When one of the page was, the page is read again and sent, at most once a second. What the outlet
keeps is one flag and the ids of the page, at most 120, so neither a busy conversation nor a slow reader makes
it grow.
"""

from collections.abc import Awaitable, Callable

import msgspec
import trio

from actors.errors import Refused
from actors.kernel.outlet import Debtor, Prepared
from persistence.errors import PersistenceError
from routes.edge.frames import prepare
from routes.edge.socket import LiveSocket

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
    """Learns whether its page was touched; implements `Outlet`.

    Args:
        socket: that the page is for.
        before_ms: the page's exclusive bound.
    """

    __slots__ = ("_before_ms", "_ids", "_newest_ms", "_socket", "touched")

    clear = True

    def __init__(self, socket: LiveSocket, before_ms: int) -> None:
        self._socket = socket
        self._before_ms = before_ms
        self._ids: frozenset[str] = frozenset()
        self._newest_ms = -1
        self.touched = trio.Event()

    def holds(self, items: tuple[Named, ...]) -> None:
        """The page as it is sent has these messages.

        Args:
            items: oldest first, at most 120.
        """
        self._ids = frozenset(item.id for item in items)
        self._newest_ms = items[-1].created_at_ms if items else -1

    def offer(self, prepared: Prepared) -> bool:
        """Never full: looks, and forgets."""
        if not self.touched.is_set() and any(map(self._concerns, prepared.payloads)):
            self.touched.set()
        return True

    def owe(self, debtor: Debtor) -> None:
        """Never asked: nothing is ever refused here."""
        debtor.repay()

    def end(self, channel: str, code: str) -> None:
        """The viewer may no longer look."""
        self._socket.end(channel, code)

    def _concerns(self, payload: bytes) -> bool:
        if payload == ANYTHING:
            return True
        message = _named.decode(payload)
        # With a bound in the future, what is sent now belongs to the page as well.
        return message.id in self._ids or self._newest_ms < message.created_at_ms < self._before_ms


class Room:
    """Waits for a slow socket; implements `Debtor`."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken = trio.Event()

    def repay(self) -> None:
        """The socket has taken what waited."""
        self._taken.set()

    async def wait(self, socket: LiveSocket) -> None:
        """Wait until nothing waits for the socket any more; cancelled when the socket is closed."""
        if not socket.clear:
            socket.owe(self)
            await self._taken.wait()


async def keep_showing(watch: PageWatch, socket: LiveSocket, read: Callable[[], Awaitable[bytes]]) -> None:
    """Send the page now, and again when it was touched and has become another one. Ends by cancellation.

    Args:
        watch: told of changes from before the first read on.
        socket: takes the frames; a slow one skips what it has no room for.
        read: the page, encoded.
    """
    sent = b""
    while True:
        watch.touched = trio.Event()
        await Room().wait(socket)
        try:
            page = await read()
        except Refused:
            # No longer a member: the subscription says so, and closes the socket.
            return
        except PersistenceError:
            # The database is away: the page is read again after the pause.
            watch.touched.set()
            page = sent
        if page != sent:
            watch.holds(_page.decode(page).items)
            socket.offer(prepare(msgspec.Raw(page)))
            sent = page
        await trio.sleep(PAUSE_SECONDS)
        await watch.touched.wait()
