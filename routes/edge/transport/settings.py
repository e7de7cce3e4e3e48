"""Settings of the server, and the context that all TLS connections share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext

from actors.kernel.clock import Clock, SystemClock
from routes.edge import policies
from routes.edge.limits import Limits, Meter
from routes.edge.tls.certificate import ServerCertificate
from routes.edge.tls.frames import Allowance
from routes.edge.transport.lateness import Lateness
from routes.edge.unsent import Unsent


def _nobody(address: str) -> bool:  # noqa: ARG001
    """The default of `trusted`: there are no proxies."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """Addresses to listen on, and every bound of a connection.

    Args:
        bind: the `host:port` of each cleartext listener; port 0 takes a free one.
        tls_bind: the `host:port` of each TLS listener (with HTTP/2), on Hypercorn's send path; needs `certificate`.
        certificate: the certificate for TLS, which may be renewed while the server runs.
        max_connections: most connections at once (contract §3, `PARTYLINE_MAX_CONNECTIONS`).
        max_per_address: most connections at once per IPv4 address or IPv6 /64; None for no limit (rate limits off).
        trusted: whether a peer is a trusted proxy, whose connections are not counted by address.
        max_head_bytes: most bytes of request line and headers; more are refused with 431.
        max_message_bytes: most bytes of a WebSocket message; a larger one closes the socket with 4413.
        deflate: whether to agree on permessage-deflate, on cleartext connections, with clients that offer it.
        head_seconds: time from the first byte of a request, or from connecting, to the end of its head.
        body_seconds: time for a body to arrive, with one second more for every `body_bytes_per_second`.
        body_bytes_per_second: the slowest upload that is tolerated.
        keep_alive_seconds: how long a connection may be idle between two requests.
        stall_seconds: a client that takes nothing for this time is closed (contract §9); so is one that falls behind
            `take_bytes_per_second` by this time.
        take_bytes_per_second: the mean rate at which a client must take a response.
        linger_seconds: time that the client has, after the server's last byte, to read it and to close.
        drain_seconds: time that requests in flight and sockets have to end when the server stops.
        sweep_seconds: time between two checks of the deadlines, and so how late an expired one may be noticed.
        backlog: most connections that wait to be accepted on each listener.
        unsent: counts and bounds the bytes that wait for slow clients.
        lateness: measures how long bytes of clients wait until they are read.
        limits: the rate limits; each WebSocket's control frames and fragments are counted by one of them, and so are
            frames of an HTTP/2 connection that are no part of a request.
        clock: the clock of these limits.
    """

    bind: tuple[str, ...] = ("127.0.0.1:8080",)
    tls_bind: tuple[str, ...] = ()
    certificate: ServerCertificate | None = None
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
    lateness: Lateness = field(default_factory=Lateness)
    limits: Limits = field(default_factory=Limits)
    clock: Clock = field(default_factory=SystemClock)

    def frame_meter(self) -> Meter:
        """A new bucket for the control frames and fragments of one WebSocket."""
        return self.limits.meter(policies.LIVE_FRAME)

    def allowance(self) -> Allowance:
        """What one HTTP/2 client may send of frames that neither ask nor bring anything."""
        return Allowance(self.limits.meter(policies.HTTP2_FRAME), self.clock)

    def hypercorn(self) -> Config:
        """Hypercorn's own configuration, for the parts that Hypercorn does."""
        config = Config()
        config.backlog = self.backlog
        config.errorlog = None
        config.include_server_header = False
        config.h11_max_incomplete_size = self.max_head_bytes
        config.websocket_max_message_size = self.max_message_bytes
        config.keep_alive_timeout = self.keep_alive_seconds
        # Connections end when they are idle, not after a number of requests, which clients could not foresee.
        config.keep_alive_max_requests = 1 << 31
        config.ssl_handshake_timeout = self.head_seconds
        # Only switches pings on; tls/websocket.py sends them at its own interval.
        config.websocket_ping_interval = 30.0
        if self.certificate is not None:
            config.certfile, config.keyfile = str(self.certificate.certfile), str(self.certificate.keyfile)
        return config


class EdgeContext(WorkerContext):
    """Hypercorn's worker context, with the server's settings.

    Args:
        settings: the server's settings.
    """

    def __init__(self, settings: ServerSettings) -> None:
        super().__init__(max_requests=None)
        self.settings = settings
