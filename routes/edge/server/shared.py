"""What every cleartext connection shares."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypercorn.typing import ASGIFramework, LifespanState

from routes.edge.pipeline.application import DirectApplication
from routes.edge.transport.reactor import Reactor
from routes.edge.transport.settings import ServerSettings

BUFFER_BYTES = 64 * 1024
"""Of the one buffer into which all connections are read: what was read is parsed before the next is."""


@dataclass(slots=True)
class Shared:
    """One server's.

    Args:
        app: the application.
        direct: the same, where it can be asked directly.
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
    direct: DirectApplication | None
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
