"""The tasks of one connection, and the way from the server to the application.

Hypercorn's own `TaskGroup` hands events to the application through a bounded channel that nobody empties once
the application has ended: whoever then tells it that the client is gone, waits for ever, and with it the
connection. Here a disconnect never waits, and what an ended application can no longer receive is dropped.
"""

from collections.abc import Awaitable, Callable

import trio
from hypercorn.config import Config
from hypercorn.trio.task_group import TaskGroup
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope

from routes.edge.errors import contained


class Feed:
    """Events on their way to one application.

    Args:
        size: how many may wait; then `put` waits, and with it the reading of the connection.
    """

    __slots__ = ("_last", "_receive", "_send")

    def __init__(self, size: int) -> None:
        self._send, self._receive = trio.open_memory_channel[ASGIReceiveEvent](size)
        self._last: ASGIReceiveEvent = {"type": "http.disconnect"}

    async def put(self, event: ASGIReceiveEvent) -> None:
        """Hand over an event; a disconnect is the last one and never waits.

        Cancellation while it waits drops the event.
        """
        if event["type"] in {"http.disconnect", "websocket.disconnect"}:
            self._last = event
            self._send.close()
            return
        try:
            await self._send.send(event)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # The application has ended, or was told that the client is gone: nobody wants this any more.
            return

    async def receive(self) -> ASGIReceiveEvent:
        """ASGI's `receive`; after the last event it repeats the disconnect.

        Cancellation loses nothing.
        """
        try:
            return await self._receive.receive()
        except trio.EndOfChannel:
            return self._last

    def close(self) -> None:
        """The application has ended."""
        self._receive.close()


class ConnectionTasks(TaskGroup):
    """The nursery of one connection.

    Args:
        report: told of every fault of the application; the fault ends this connection and nothing else.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._report = report

    @property
    def nursery(self) -> trio.Nursery:
        """Of all tasks of this connection; there is one inside `async with` only.

        Raises:
            RuntimeError: it is asked for outside of `async with`.
        """
        if self._nursery is None:
            raise RuntimeError("the connection is not being served")
        return self._nursery

    def start_soon(self, function: Callable[[], Awaitable[None]]) -> None:
        """Start a task of the connection's own."""
        self.nursery.start_soon(function)

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Start the application for one request or WebSocket; returns the way to tell it things.

        Cancellation starts nothing.
        """
        feed = Feed(config.max_app_queue_size)
        self.nursery.start_soon(self._run_app, app, scope, feed, send)
        return feed.put

    async def _run_app(
        self,
        app: AppWrapper,
        scope: Scope,
        feed: Feed,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> None:
        try:
            with contained(self._report):
                await app(scope, feed.receive, send, trio.to_thread.run_sync, trio.from_thread.run)
        finally:
            feed.close()
        with contained(self._report):
            await send(None)
