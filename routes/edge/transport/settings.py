"""What our server is told, and what every connection shares."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from actors.kernel.clock import Clock, SystemClock
from routes.edge.limits import POLICIES, Limits, Meter
from routes.edge.unsent import Unsent


def _nobody(address: str) -> bool:  # noqa: ARG001
    """No peer is a proxy of ours."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How to listen, and every bound of a connection.

    Args:
        bind: `host:port` each; port 0 takes a free one.
        certfile, keyfile: PEM files; with both the server speaks TLS (and HTTP/2), on Hypercorn's send path.
        max_connections: open at once, in all (contract §3, `PARTYLINE_MAX_CONNECTIONS`).
        max_per_address: open at once per IPv4 address or IPv6 /64; None for no limit (rate limits off).
        trusted: whether a peer is a proxy of ours, whose connections are not counted by address.
        max_head_bytes: of a request's line and header fields, else 431.
        max_message_bytes: of a WebSocket message, else 4413.
        deflate: agree on permessage-deflate, on cleartext connections, with clients that offer it.
        head_seconds: from the first byte of a request, or from connecting, to the end of its head.
        body_seconds: for a body, and one second more for every `body_bytes_per_second`.
        body_bytes_per_second: the slowest upload that is waited for.
        keep_alive_seconds: between two requests.
        stall_seconds: a client that takes nothing for so long is closed (contract §9); so is one that is so far
            behind with a response.
        take_bytes_per_second: what a client must take of a response in the mean.
        linger_seconds: after our last byte, for the client to read it and to close.
        drain_seconds: at the stop, for requests in flight and for sockets to go.
        sweep_seconds: between two looks at the deadlines, and so how late one may be noticed.
        backlog: connections that wait to be accepted.
        unsent: counts and bounds what waits for slow clients.
        limits: of rates; frames that are no messages are counted by them, for each WebSocket.
        clock: by which they are counted.
    """

    bind: tuple[str, ...] = ("127.0.0.1:8080",)
    certfile: Path | None = None
    keyfile: Path | None = None
    max_connections: int = 20_000
    max_per_address: int | None = 512
    trusted: Callable[[str], bool] = _nobody
    max_head_bytes: int = 16 * 1024
    max_message_bytes: int = 64 * 1024
    deflate: bool = False
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    body_bytes_per_second: int = 16 * 1024
    keep_alive_seconds: float = 75.0
    stall_seconds: float = 60.0
    take_bytes_per_second: int = 4 * 1024
    linger_seconds: float = 5.0
    drain_seconds: float = 20.0
    sweep_seconds: float = 1.0
    backlog: int = 2048
    unsent: Unsent = field(default_factory=Unsent)
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=SystemClock)

    def frame_meter(self) -> Meter:
        """What a new WebSocket counts the frames by that are no messages."""
        return self.limits.meter(POLICIES["live-frame"])

    def hypercorn(self) -> Config:
        """Hypercorn's own configuration, for what is left to it."""
        config = Config()
        config.bind = list(self.bind)
        config.backlog = self.backlog
        config.errorlog = None
        config.include_server_header = False
        config.h11_max_incomplete_size = self.max_head_bytes
        config.websocket_max_message_size = self.max_message_bytes
        config.keep_alive_timeout = self.keep_alive_seconds
        # A connection ends when it is idle, not after a number of requests: clients would see a close for
        # nothing.
        config.keep_alive_max_requests = 1 << 31
        config.ssl_handshake_timeout = self.head_seconds
        # Only says that there are pings; who sends them, and when, stands in tls/websocket.py.
        config.websocket_ping_interval = 30.0
        if self.certfile is not None and self.keyfile is not None:
            config.certfile, config.keyfile = str(self.certfile), str(self.keyfile)
        return config


class EdgeContext(WorkerContext):
    """Hypercorn's context of a worker, with our settings beside it.

    Args:
        settings: of the server.
    """

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__(max_requests=None)
        self.settings = settings
