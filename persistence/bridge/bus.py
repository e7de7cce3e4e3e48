"""The bus between nodes: NATS core, in the bridge's thread. Only this module knows it.

A node hears on one subject, because over two NATS keeps no order. What is published while no server is reached is
dropped: whoever hears the next message sees that some are missing (`actors/kernel/nodes/link.py`).

    pl.<space>.<node>                      where a node hears
    pl.<space>.<node>.none.<other node>    where the server says that the other node hears no more (no responders)
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error

from persistence.bridge.thread import AsyncioThread

_log = structlog.get_logger()

BACKLOG_BYTES = 1024 * 1024
"""How many bytes may wait to be handed to the server before the bus stops being ready and links hold back."""

PING_SECONDS = 1
PINGS_MISSED = 2
"""A server that does not answer is left after three seconds."""

RECONNECT_SECONDS = 0.2
"""Pause between two attempts to reach a server again, so that a short outage is over soon after it ends."""

CONNECT_SECONDS = 2
"""How long an attempt to reach a server may take."""

MESSAGE_BYTES = 1_000_000
"""Most bytes of one message. A server whose `max_payload` is less, where NATS' own is 1 MiB, drops the largest."""

UNREACHED = (Error, OSError, TimeoutError, ValueError)
"""What connecting fails with; a ValueError where something answers that is no NATS."""

_NO_RESPONDERS = "503"

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def trouble_with(urls: Sequence[str]) -> str | None:
    """Why no server can be used, such as "cannot be reached (NoServersError)"; None when one lets us in and takes what
    nodes send. Runs in the bridge's thread; cancellation ends the attempt.

    Args:
        urls: the addresses of one NATS cluster, as for `Bus`.
    """
    client = Client()
    try:
        await asyncio.wait_for(
            client.connect(
                list(urls),
                connect_timeout=CONNECT_SECONDS,
                allow_reconnect=False,
                max_reconnect_attempts=1,
                error_cb=_untold,
            ),
            2 * CONNECT_SECONDS,
        )
        if client.max_payload < MESSAGE_BYTES:
            return f"takes messages of {client.max_payload} bytes at most, and needs to take {MESSAGE_BYTES}"
    except UNREACHED as failure:
        return f"cannot be reached ({type(failure).__name__})"
    finally:
        await client.close()
    return None


async def _untold(_failure: Exception) -> None:
    """Does nothing with an error that is raised as well; the client's own way is to print it with its trace."""


class Bus:
    """This node's connection to the bus; runs in the bridge's thread until that is closed.

    Args:
        thread: the bridge's (`Database.thread`).
        urls: addresses of one NATS cluster, `nats://` or `tls://`, with user and password or a token if it needs them.
        space: what the subjects of one service begin with, so that two may share a NATS.
        node: the name of this node. Both are of letters, digits, `_` and `-`.

    Raises:
        ValueError: a name cannot be part of a subject.
    """

    def __init__(
        self,
        thread: AsyncioThread,
        urls: Sequence[str],
        *,
        space: str,
        node: str,
    ) -> None:
        for name in (space, node):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{name!r} cannot be part of a subject of NATS")
        self._thread = thread
        self._urls = list(urls)
        self._node = node
        self._prefix = f"pl.{space}."
        self._outbox: deque[tuple[str, bytes]] = deque()
        self._is_woken = False
        self._more = asyncio.Event()
        self._is_up = False
        self._troubles: set[str] = set()  # what has failed since the server was reached; each is logged once
        # Each is written by one thread only.
        self._handed_bytes = 0
        self._sent_bytes = 0

    def join(
        self,
        *,
        taken: Callable[[bytes], None],
        absent: Callable[[str], None],
        ready: Callable[[], None],
    ) -> None:
        """Begin to hear, and to be heard; called once.

        Args:
            taken: called with each message for this node, in order. Like the other two, it is called in the trio thread
                and must not raise.
            absent: called with the name of a node that was sent a message and does not hear any.
            ready: called when `takes` may have become true.
        """
        self._taken = taken
        self._absent = absent
        self._ready = ready
        self._thread.serve(self._run)

    @property
    def is_up(self) -> bool:
        """Whether a server is reached."""
        return self._is_up

    def takes(self, _node: str) -> bool:
        """Whether messages to a node go out now: a server is reached, and fewer than `BACKLOG_BYTES` wait for it."""
        return self._is_up and self._handed_bytes - self._sent_bytes < BACKLOG_BYTES

    def publish(self, node: str, data: bytes) -> None:
        """Send a message to a node, without waiting; it is lost when no server is reached.

        Args:
            node: the receiving node's name.
            data: the message, at most `MESSAGE_BYTES`.
        """
        self._handed_bytes += len(data)
        self._outbox.append((node, data))
        if not self._is_woken:
            self._is_woken = True
            self._thread.post(self._more.set)

    # -- in the bridge's thread ---------------------------------------------------------------------

    async def _run(self) -> None:
        """Connect, and carry messages until the connection is closed for good; the thread then calls this again."""
        client = Client()
        try:
            await client.connect(
                self._urls,
                name=f"partyline {self._node}",
                error_cb=self._failed,
                disconnected_cb=self._lost,
                reconnected_cb=self._found,
                closed_cb=self._closed,
                max_reconnect_attempts=-1,
                reconnect_time_wait=RECONNECT_SECONDS,  # type: ignore[arg-type]  # it takes parts of a second
                connect_timeout=CONNECT_SECONDS,
                ping_interval=PING_SECONDS,
                max_outstanding_pings=PINGS_MISSED,
            )
        except UNREACHED as failure:
            await self._failed(failure)
            await client.close()
            await asyncio.sleep(RECONNECT_SECONDS)
            return
        try:
            inbox = self._prefix + self._node
            await client.subscribe(inbox, cb=self._take)
            await client.subscribe(f"{inbox}.none.*", cb=self._miss)
            await client.flush()
            if client.max_payload < MESSAGE_BYTES:
                _log.warning("bus_loses_large_messages", max_payload=client.max_payload, needed=MESSAGE_BYTES)
            await self._found()
            while not client.is_closed:
                await self._more.wait()
                await self._send(client)
        finally:
            self._is_up = False
            await client.close()

    async def _send(self, client: Client) -> None:
        self._more.clear()
        # Before the queue is looked at: what comes after the look wakes us again.
        self._is_woken = False
        was_full = self._handed_bytes - self._sent_bytes >= BACKLOG_BYTES
        while self._outbox:
            node, data = self._outbox.popleft()
            try:
                if client.is_connected:
                    await client.publish(
                        self._prefix + node, data, reply=f"{self._prefix}{self._node}.none.{node}"
                    )
            except Error as failure:
                _log.warning("bus_message_lost", why=type(failure).__name__)
            self._sent_bytes += len(data)
        if was_full:
            self._thread.hand_back(self._ready)

    async def _take(self, message: Msg) -> None:
        self._thread.hand_back(partial(self._taken, message.data))

    async def _miss(self, message: Msg) -> None:
        if (message.headers or {}).get("Status") == _NO_RESPONDERS:
            self._thread.hand_back(partial(self._absent, message.subject.rpartition(".")[2]))

    async def _found(self) -> None:
        if not self._is_up:
            _log.info("bus_reached")
        self._is_up = True
        self._troubles.clear()
        self._thread.hand_back(self._ready)

    async def _lost(self) -> None:
        if self._is_up:
            _log.warning("bus_lost")
        self._is_up = False

    async def _closed(self) -> None:
        self._is_up = False
        self._more.set()

    async def _failed(self, failure: Exception) -> None:
        # By its type alone: its text may have the address, and with it the password.
        trouble = type(failure).__name__
        if trouble not in self._troubles:
            self._troubles.add(trouble)
            _log.warning("bus_failure", why=trouble)
