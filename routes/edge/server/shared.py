"""The objects that all cleartext connections of a server share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypercorn.typing import ASGIFramework, LifespanState

from routes.edge.pipeline.application import DirectApplication
from routes.edge.transport.reactor import Reactor
from routes.edge.transport.settings import ServerSettings

BUFFER_BYTES = 64 * 1024
"""Size of the one buffer into which all connections are read; bytes are parsed before the next read."""


@dataclass(slots=True)
class Shared:
    """The shared objects of one server.

    Args:
        app: the application.
        direct: the same application if it is a `DirectApplication`, else None.
        settings: the server's settings.
        reactor: watches the sockets.
        state: of the lifespan; each request gets a copy.
        start: runs `fn(*args)` in a task of the server; an exception is reported and goes no further.
        report: called with an exception that concerns one connection alone.
        retiring: whether the server is stopping.
        buffer: the buffer that all connections are read into.
        view: a memoryview of the buffer.
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
