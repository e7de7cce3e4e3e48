"""Media that pass through this process: each frame of a client goes to the others in the room."""

from collections.abc import Callable, Collection
from functools import partial
from typing import Any

import trio

from scripts.voice_node.node import Registration
from scripts.voice_node.rooms import Rooms
from scripts.voice_node.sockets import serve


class Relay:
    """Carries the media of a node by itself.

    Args:
        listeners: accept the connections of clients.
        url: the address of the listeners.
        say: tells the person at the terminal.
    """

    protocol = "partyline"

    def __init__(self, listeners: list[trio.SocketListener], url: str, say: Callable[[str], None]) -> None:
        self._listeners = listeners
        self._say = say
        self.url = url
        self.rooms = Rooms(say)

    def known(self) -> Registration | None:
        """None, as no registration is kept: the node registers at each start."""
        return None

    async def carry(
        self, node: Registration, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Serve clients until cancelled."""
        handler = partial(serve, rooms=self.rooms, key=node.node_id, secret=node.secret, say=self._say)
        async with trio.open_nursery() as nursery:
            await nursery.start(trio.serve_listeners, handler, self._listeners)
            task_status.started()

    async def report(self) -> list[dict[str, Any]]:
        """Who is connected, as heartbeats say it."""
        return self.rooms.report()

    def muted(self) -> Collection[tuple[str, str]]:
        """(channel id, user id) of the users whom Partyline has muted, connected or not."""
        return self.rooms.muted

    async def obey(self, action: dict[str, Any]) -> None:
        """Carry out one of Partyline's orders."""
        self.rooms.obey(action)


async def open_relay(host: str, port: int, say: Callable[[str], None]) -> Relay:
    """Listen for clients.

    Args:
        port: the port to listen at; 0 for any that is free.

    Raises:
        OSError: the port is taken.
    """
    listeners = await trio.open_tcp_listeners(port, host=host)
    port = listeners[0].socket.getsockname()[1]
    return Relay(listeners, f"ws://{host}:{port}", say)
