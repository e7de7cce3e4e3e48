"""One connection that receives PostgreSQL's notifications (LISTEN) and watches whether the server answers.

It pings every second, so that a server which vanished without closing its connections (a pulled cable) is noticed.
Only this module sets `available`: units and the writer, when they lose a connection, make it ping at once.

Invariants: `heard("")` is called after every (re)connection, because notifications sent before it may have been missed.
Notifications are passed on in the order of their arrival.
"""

import asyncio
import contextlib
from collections.abc import Callable
from functools import partial
from typing import TypeAlias

import asyncpg
import structlog

from persistence.bridge.connector import Connector
from persistence.bridge.faults import CONNECT_FAULTS

_log = structlog.get_logger()

PING_SECONDS = 1.0
"""Pause between two pings while the server answers."""

PING_TIMEOUT_SECONDS = 2.0
"""A ping without an answer for so long means unavailable: with the pause above, noticed within 3 s."""

RECONNECT_SECONDS = (0.05, 0.5)
"""First and longest pause between attempts to connect; it doubles."""

Heard: TypeAlias = Callable[[str], None]


class Watch:
    """The watching connection; everything but `available` is used in the asyncio thread only.

    Args:
        connector: opens connections, and ends the one that rests.
        hand_back: runs a function in the trio thread.
    """

    def __init__(
        self,
        connector: Connector,
        *,
        hand_back: Callable[[Callable[[], object]], None],
    ) -> None:
        self._connector = connector
        self._hand_back = hand_back
        self._heard: dict[str, list[Heard]] = {}  # {channel: callbacks}
        self._listening: set[str] = set()  # channels for which this connection has run LISTEN
        self._conn: asyncpg.Connection | None = None
        self._look = asyncio.Event()
        self.available = False
        self.connections = 0

    def look_now(self) -> None:
        """Ping now rather than within a second, because a connection was lost."""
        self._look.set()

    def listen(self, channel: str, heard: Heard) -> None:
        """Call a function for each notification on a channel of PostgreSQL; pings now, since a ping runs LISTEN.

        Args:
            channel: its name, an SQL identifier.
            heard: called in the trio thread with the payload, or with "" once listening has (again) begun; it must not
                raise.
        """
        self._heard.setdefault(channel, []).append(heard)
        if channel in self._listening:
            self._hand_back(partial(heard, ""))
        self._look.set()

    async def open(self) -> None:
        """Make the first connection, so that opening the bridge fails with the reason if the server is unreachable.

        Cancellation leaves no connection.

        Raises: what asyncpg raises (`CONNECT_FAULTS`).
        """
        await self._reconnect()
        self.available = True

    async def run(self) -> None:
        """Ping, listen and reconnect until cancelled; cancellation closes the connection."""
        pause_seconds = RECONNECT_SECONDS[0]
        try:
            while True:
                self._look.clear()
                try:
                    await self._look_at_server()
                except CONNECT_FAULTS as error:
                    self._note_absence(error)
                    await asyncio.sleep(pause_seconds)
                    pause_seconds = min(pause_seconds * 2, RECONNECT_SECONDS[1])
                    continue
                self._note_presence()
                pause_seconds = RECONNECT_SECONDS[0]
                await self._rest()
        finally:
            self._end_connection()

    async def _rest(self) -> None:
        """Wait until the next ping; cancellation ends the connection, which is whole meanwhile."""
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), PING_SECONDS)
        except asyncio.CancelledError:
            if self._conn is not None:
                self._conn.remove_termination_listener(self._on_termination)
                self._connector.end(self._conn)
                self._conn = None
            raise

    async def _look_at_server(self) -> None:
        """Ping, on a new connection if the present one is lost: the loss of one says little about the server."""
        if self._conn is not None and not self._conn.is_closed():
            try:
                return await self._ping(self._conn)
            except TimeoutError:
                raise
            except CONNECT_FAULTS as error:
                _log.debug("the watching connection was lost", error=type(error).__name__)
        return await self._ping(await self._reconnect())

    async def _ping(self, conn: asyncpg.Connection) -> None:
        """LISTEN to the channels that are new on this connection, then wait for the answer to one query."""
        async with asyncio.timeout(PING_TIMEOUT_SECONDS):
            for channel in self._heard.keys() - self._listening:
                await conn.add_listener(channel, self._on_notification)
                self._listening.add(channel)
                for heard in self._heard[channel]:
                    self._hand_back(partial(heard, ""))
            await conn.execute("SELECT 1")

    async def _reconnect(self) -> asyncpg.Connection:
        self._end_connection()
        conn = await self._connector.connect()
        conn.add_termination_listener(self._on_termination)
        self._conn = conn
        self.connections += 1
        return conn

    def _end_connection(self) -> None:
        if self._conn is not None:
            self._conn.terminate()
            self._conn = None
        self._listening.clear()

    def _note_presence(self) -> None:
        if not self.available:
            self.available = True
            _log.info("the database is available again")

    def _note_absence(self, error: Exception) -> None:
        self._end_connection()
        if self.available:
            self.available = False
            _log.warning("the database is unavailable", error=type(error).__name__)

    def _on_termination(self, _conn: object) -> None:
        self._look.set()

    def _on_notification(self, _conn: object, _pid: int, channel: str, payload: object) -> None:
        for heard in self._heard[channel]:
            self._hand_back(partial(heard, str(payload)))
