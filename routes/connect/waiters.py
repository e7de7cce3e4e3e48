"""Requests that wait for events of game servers, and the open streams of servers.

Both follow the committed events of all servers. A long poll waits for a pending command, `Prefer: wait` for the end of
one command. For a server with an open stream, commands are taken as soon as there are any, and again when a lease is
over (`delivering.py`); the stream ends with the secret that opened it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol

import trio

from actors.connect import events
from actors.connect.commands import TakeCommands
from actors.connect.credentials import Credentials
from actors.connect.events import AnyEvent
from actors.connect.listening import Listening
from actors.connect.rules_commands import AT_ONCE
from actors.connect.state import State
from actors.kernel.mailbox import Answer
from actors.kernel.nodes.peers import Peers
from actors.kernel.nodes.roaming import Roaming, roaming_over
from persistence.connect.rows import CommandRow
from routes.connect.delivering import Deliveries
from routes.connect.parts import GAME_SERVERS
from routes.lifecycle import Lifecycle
from routes.part import Opening, Part
from routes.service import Service

TOPIC = "listening"
"""The topic by which nodes tell each other which servers listen for commands."""

STREAMS = "streams"
"""The topic by which nodes tell each other which of them do so on a stream."""


class Waiter:
    """A request that waits for one event."""

    def __init__(self) -> None:
        self._command: CommandRow | None = None
        self._woken = trio.Event()

    def wake(self, command: CommandRow | None) -> None:
        """The event has happened; let `wait` return."""
        self._command = command
        self._woken.set()

    async def wait(self, seconds: float) -> CommandRow | None:
        """Wait for the event, for at most `seconds`; returns the event's command as it was then, or None for an event
        without a command, and when no event came in time.
        """
        with trio.move_on_after(seconds):
            await self._woken.wait()
        return self._command


class ListeningServer(Protocol):
    """A stream that a game server has opened."""

    takes_commands: bool
    """Whether its credentials cover commands."""

    address: str
    """The server's IP address, normalised."""

    def secret_changed(self, number: int, former_until_ms: int | None) -> None:
        """Called after each change of the server, with the state of its secret.

        Args:
            number: the number of the current secret.
            former_until_ms: until when the former secret is valid, epoch milliseconds; None if there is none.
        """
        ...


class Waiters:
    """All waiting requests and open streams of game servers.

    Attributes:
        listening: the servers that listen for commands.
        streams: tells other nodes which servers have streams here; None where there are no other nodes.
        deliveries: takes commands for streams.
    """

    def __init__(self) -> None:
        self.listening = Listening()
        self.deliveries = Deliveries(self.takes)
        self.streams: Roaming | None = None
        self._waiting: dict[str, list[Waiter]] = {}  # {id of a server or command: requests that wait for it}
        self._streams: dict[str, list[ListeningServer]] = {}  # {server id: its open streams}

    def follow(self, service: Service) -> None:
        """Subscribe to the events of all servers: of those that live here, and of those with a stream here."""
        self.deliveries.begin(partial(_take, service))

        def happened(state: State, event: AnyEvent) -> None:
            if self._concerns(state, event):
                self.deliveries.deliver(state.id)

        def copied(state: State, event: AnyEvent | None) -> None:
            waits = any(map(_waits, state.commands.values()))
            if waits and self.takes(state.id) if event is None else self._concerns(state, event):
                self.deliveries.deliver(state.id)

        service.of(GAME_SERVERS).listeners.append(happened)
        service.of(GAME_SERVERS).copied.append(copied)

    async def keep(self, lifecycle: Lifecycle) -> None:
        """Wait until the process drains, then wake all waiting requests; run as a background task."""
        await lifecycle.wait_draining()
        for key in list(self._waiting):
            self._wake(key, None)

    @contextmanager
    def waiter(self, key: str) -> Iterator[Waiter]:
        """Register a waiter for as long as the block runs.

        Args:
            key: a server's id, to wait for a pending command, or a command's id, to wait for its end.
        """
        waiter = Waiter()
        self._waiting.setdefault(key, []).append(waiter)
        try:
            yield waiter
        finally:
            waiting = self._waiting[key]
            waiting.remove(waiter)
            if not waiting:
                del self._waiting[key]

    def waiting(self, key: str) -> bool:
        """Whether a request waits for this server or command."""
        return key in self._waiting

    def listens(self, server_id: str, stream: ListeningServer) -> None:
        """Register an open stream of a server."""
        self._streams.setdefault(server_id, []).append(stream)
        if stream.takes_commands:
            if self.streams is not None:
                self.streams.opened(server_id)
            self.listening.streams.opened(server_id)

    def left(self, server_id: str, stream: ListeningServer) -> None:
        """Remove a closed stream; call it once for each `listens`."""
        streams = self._streams[server_id]
        streams.remove(stream)
        if not streams:
            del self._streams[server_id]
        if stream.takes_commands:
            if self.streams is not None:
                self.streams.closed(server_id)
            self.listening.streams.closed(server_id)

    def takes(self, server_id: str) -> bool:
        """Whether the server has a stream open on this node that takes commands."""
        return any(stream.takes_commands for stream in self._streams.get(server_id, ()))

    def takes_anywhere(self, server_id: str) -> bool:
        """Whether the server has such a stream open on any node."""
        return self.takes(server_id) or server_id in self.listening.streams_elsewhere

    def note_calls(self, credentials: Credentials, now_ms: int) -> None:
        """Let an open stream count as a call of its server, as its owner sees it: who only listens is not silent.

        Servers whose last call is in memory are passed over, so that the many that push their status beside their
        stream are neither written nor told to other nodes more often.

        Args:
            credentials: keeps when each server has called.
            now_ms: epoch milliseconds.
        """
        for server_id, streams in self._streams.items():
            if credentials.is_silent(server_id):
                credentials.saw(server_id, now_ms, streams[-1].address)

    def statistics(self) -> int:
        """How many servers have a stream open."""
        return len(self._streams)

    def _concerns(self, state: State, event: AnyEvent) -> bool:
        """Wake the requests that wait for the event; returns whether commands are to be taken for a stream."""
        match event:
            case events.CommandChanged(command) if command.finished_at_ms is not None:
                self._wake(command.id, command)
            case events.CommandChanged(command) if command.status == "pending":
                self._wake(state.id, command)
                waits = state.commands.get(command.id, command).status == "pending"
                return waits and self.takes(state.id)
            case events.LeaseEnded():
                self._wake(state.id, None)
                return self.takes(state.id)
            case events.CommandChanged(command) | events.CommandTouched(command) if (
                command.status == "delivered"
            ):
                # More commands may be pending than are taken at once.
                return self.takes(state.id) and any(map(_waits, state.commands.values()))
            case events.ServerChanged(row):
                for stream in tuple(self._streams.get(row.server_id, ())):
                    stream.secret_changed(row.secret_number, row.former_until_ms)
            case events.ServerRemoved():
                for key in (state.id, *state.commands):
                    self._wake(key, None)  # nothing of what they wait for will happen any more
        return False

    def _wake(self, key: str, command: CommandRow | None) -> None:
        for waiter in self._waiting.get(key, ()):
            waiter.wake(command)


def tell_who_listens(peers: Peers, waiters: Waiters) -> None:
    """Tell other nodes which servers listen here, and which on a stream, and hear the same of theirs."""
    listening = waiters.listening
    roaming = roaming_over(peers, TOPIC, listening.elsewhere)
    waiters.streams = roaming_over(peers, STREAMS, listening.streams_elsewhere)

    def changed(server_id: str) -> None:
        if listening.listens_here(server_id):
            roaming.opened(server_id)
        else:
            roaming.closed(server_id)

    listening.follow_own(changed)


def _take(service: Service, server_id: str, answered: Callable[[Answer], None]) -> None:
    """Have a server's pending commands taken, whichever node owns its actor, and whether or not that is loaded."""
    service.system.post(service.of(GAME_SERVERS).server, server_id, TakeCommands(AT_ONCE), answered)


def _waits(command: CommandRow) -> bool:
    """Whether a command is to be delivered, for the first time or again."""
    return command.status == "pending" or (command.status == "delivered" and command.leased_until_ms is None)


async def _open(_opening: Opening) -> Waiters:
    return Waiters()


WAITERS = Part(name="long polls of game servers", open=_open)
"""Requests that wait for game servers, and the open streams of servers."""
