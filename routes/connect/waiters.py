"""Who waits for something to happen to a game server, and which servers listen on a stream of their own.

Told of every committed event of every server. A long poll waits for what the server is to do, `Prefer: wait` for one
command's end. A server that listens is made to take its commands as soon as there are any, and again when a lease is
over; its stream ends with the secret that opened it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import trio

from actors.connect import events
from actors.connect.commands import TakeCommands
from actors.connect.events import AnyEvent
from actors.connect.rules_commands import AT_ONCE
from actors.connect.state import State
from persistence.connect.rows import CommandRow
from routes.connect.parts import GAME_SERVERS
from routes.lifecycle import Lifecycle
from routes.part import Opening, Part
from routes.service import Service


class Waiter:
    """Woken once, when what somebody waits for has happened.

    Attributes:
        command: the one that it was about, as it was then.
    """

    def __init__(self) -> None:
        self.command: CommandRow | None = None
        self._woken = trio.Event()

    def wake(self, command: CommandRow | None) -> None:
        """It has happened."""
        self.command = command
        self._woken.set()

    async def wait(self, seconds: float) -> None:
        """Return when it has happened, or after so long."""
        with trio.move_on_after(seconds):
            await self._woken.wait()


class ListeningServer(Protocol):
    """A stream that a server has opened."""

    takes_commands: bool
    """Whether its credentials cover commands."""

    def secret_changed(self, number: int, former_until_ms: int | None) -> None:
        """The server has another secret.

        Args:
            number: of the new one.
            former_until_ms: so long the one before is valid.
        """
        ...


class Waiters:
    """Waiters and streams, by what they wait for."""

    def __init__(self) -> None:
        self._waiting: dict[str, list[Waiter]] = {}  # {id of a server or command: who waits}
        self._streams: dict[str, list[ListeningServer]] = {}  # {server id: its open streams}

    def follow(self, service: Service) -> None:
        """Be told of every event of every server."""

        def happened(state: State, event: AnyEvent) -> None:
            if self._concerns(state, event):
                service.system.tell(service.of(GAME_SERVERS).server, state.id, TakeCommands(AT_ONCE))

        service.of(GAME_SERVERS).listeners.append(happened)

    async def keep(self, lifecycle: Lifecycle) -> None:
        """Let nobody wait any more once the process is to stop; ends with it."""
        await lifecycle.wait_draining()
        for key in list(self._waiting):
            self._wake(key, None)

    @contextmanager
    def waiter(self, key: str) -> Iterator[Waiter]:
        """A waiter for the block.

        Args:
            key: a server's id: it has something to do; a command's: that is finished.
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
        """Whether anybody waits for this."""
        return key in self._waiting

    def listens(self, server_id: str, stream: ListeningServer) -> None:
        """A server has opened a stream."""
        self._streams.setdefault(server_id, []).append(stream)

    def left(self, server_id: str, stream: ListeningServer) -> None:
        """The stream is closed; once for each `listens`."""
        streams = self._streams[server_id]
        streams.remove(stream)
        if not streams:
            del self._streams[server_id]

    def takes(self, server_id: str) -> bool:
        """Whether a stream of the server's takes commands."""
        return any(stream.takes_commands for stream in self._streams.get(server_id, ()))

    def statistics(self) -> int:
        """How many servers listen."""
        return len(self._streams)

    def _concerns(self, state: State, event: AnyEvent) -> bool:
        """Wake who waits for it; whether a stream waits for what there is to take."""
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
                # More may wait than is taken at once.
                return self.takes(state.id) and any(map(_waits, state.commands.values()))
            case events.ServerChanged(row):
                for stream in tuple(self._streams.get(row.server_id, ())):
                    stream.secret_changed(row.secret_number, row.former_until_ms)
        return False

    def _wake(self, key: str, command: CommandRow | None) -> None:
        for waiter in self._waiting.get(key, ()):
            waiter.wake(command)


def _waits(command: CommandRow) -> bool:
    """Whether a command is to be delivered, for the first time or again."""
    return command.status == "pending" or (command.status == "delivered" and command.leased_until_ms is None)


async def _open(_opening: Opening) -> Waiters:
    return Waiters()


WAITERS = Part(name="whoever waits for game servers", open=_open)
"""Who waits for game servers, and which of them listen."""
