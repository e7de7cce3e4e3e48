"""The tasks of one TLS connection, and the queue of events to the application.

Hypercorn's own `TaskGroup` sends events to the application through a bounded channel that is not emptied any more
once the application has ended; sending it the disconnect then blocks for ever, and the connection stays. Here a
disconnect never blocks, and events for an ended application are dropped.
"""

from collections.abc import Awaitable, Callable

import trio
from hypercorn.config import Config
from hypercorn.trio.task_group import TaskGroup
from hypercorn.typing import AppWrapper, ASGIReceiveEvent, ASGISendEvent, Scope

from routes.edge.contained import contained


class Feed:
    """The queue of events to one application.

    Args:
        size: how many events may wait; then `put` blocks, and with it the reading of the connection.
    """

    __slots__ = ("_last", "_receive", "_send")

    def __init__(self, size: int) -> None:
        self._send, self._receive = trio.open_memory_channel[ASGIReceiveEvent](size)
        self._last: ASGIReceiveEvent = {"type": "http.disconnect"}

    async def put(self, event: ASGIReceiveEvent) -> None:
        """Queue an event; a disconnect is the last one and never blocks. Cancellation: the event is not queued."""
        if event["type"] in {"http.disconnect", "websocket.disconnect"}:
            self._last = event
            self._send.close()
            return
        try:
            await self._send.send(event)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            # The application has ended, or was told that the client is gone: the event is dropped.
            return

    async def receive(self) -> ASGIReceiveEvent:
        """ASGI's `receive`; after the last event it repeats the disconnect. Cancellation loses no event."""
        try:
            return await self._receive.receive()
        except trio.EndOfChannel:
            return self._last

    def close(self) -> None:
        """Drop the events, because the application has ended."""
        self._receive.close()


class ConnectionTasks(TaskGroup):
    """The nursery of one connection.

    Args:
        report: called with every exception of the application, which ends this connection and nothing else.
    """

    def __init__(self, report: Callable[[BaseException], None]) -> None:
        super().__init__()
        self._report = report

    @property
    def nursery(self) -> trio.Nursery:
        """The nursery of all tasks of this connection.

        Raises:
            RuntimeError: outside of `async with`.
        """
        if self._nursery is None:
            raise RuntimeError("the connection is not being served")
        return self._nursery

    def start_soon(self, function: Callable[[], Awaitable[None]]) -> None:
        """Start a task of the connection itself."""
        self.nursery.start_soon(function)

    async def spawn_app(
        self,
        app: AppWrapper,
        config: Config,
        scope: Scope,
        send: Callable[[ASGISendEvent | None], Awaitable[None]],
    ) -> Callable[[ASGIReceiveEvent], Awaitable[None]]:
        """Start the application for one request or WebSocket; returns `Feed.put`. Never waits, so cancellation has no
        effect.
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
