"""What every cleartext connection shares, and its place among all that are connected."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from hypercorn.typing import ASGIFramework, LifespanState

from routes.edge.carrier import Carrier
from routes.edge.server_handover import Swept
from routes.edge.server_reactor import Reactor
from routes.edge.server_settings import ServerSettings

if TYPE_CHECKING:
    from routes.edge.server_admission import Connections

Address: TypeAlias = tuple[str, int]

BUFFER_BYTES = 64 * 1024
"""Of the one buffer into which all connections are read: what was read is parsed before the next is."""


@dataclass(slots=True)
class Shared:
    """One server's.

    Args:
        app: the application.
        carrier: the same, where it can be asked directly.
        settings: bounds.
        reactor: watches the sockets.
        state: of the lifespan; each request gets a copy.
        start: runs `fn(*args)` in a task of the server's, contained.
        report: told of a fault that belongs to one connection alone.
        retiring: the server stops.
        buffer: for `recv_into`.
        view: of the buffer.
    """

    app: ASGIFramework
    carrier: Carrier | None
    settings: ServerSettings
    reactor: Reactor
    state: LifespanState
    start: Callable[..., None]
    report: Callable[[BaseException], None]
    retiring: bool = False
    buffer: bytearray = field(default_factory=lambda: bytearray(BUFFER_BYTES))
    view: memoryview = field(init=False)

    def __post_init__(self) -> None:
        self.view = memoryview(self.buffer)


class Place:
    """One connection among all, counted until it leaves.

    Args:
        connections: all of them.
        key: what its address is counted by, None where it is not.

    Attributes:
        holder: who is swept and retired; None before there is a connection, and after it.
    """

    __slots__ = ("_connections", "holder", "key")

    def __init__(self, connections: "Connections", key: str | None) -> None:
        self._connections = connections
        self.key = key
        self.holder: Swept | None = None

    def leave(self) -> None:
        """The connection is over; to be called once."""
        self.holder = None
        self._connections.leave(self)
