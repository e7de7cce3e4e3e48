"""The interface between the edge and the service that it serves."""

from typing import Protocol

from actors.ids import ObjectIds, RandomBytes
from actors.kernel.clock import Clock
from actors.kernel.directory import System
from persistence.bridge.database import Database
from routes.edge.address import Network
from routes.edge.identity.credentials import Authenticator, ServerAuthenticator
from routes.edge.identity.keys import Keys
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.pipeline.passing import Others
from routes.edge.tabs import Tabs
from routes.edge.unsent import Unsent
from routes.edge.websocket.registry import Sockets


class Settings(Protocol):
    """The settings that concern how requests are served."""

    @property
    def request_seconds(self) -> int:
        """How long a request may take, in seconds."""
        ...

    @property
    def trusted_proxies(self) -> tuple[Network, ...]:
        """The networks of the proxies that may name the client's address."""
        ...

    @property
    def client_ip_header(self) -> bytes | None:
        """The header in which trusted proxies name the client's address, in lower case; None for X-Forwarded-For."""
        ...

    @property
    def cors_origins(self) -> tuple[str, ...]:
        """The origins whose pages may send requests and read responses, `*` for any."""
        ...

    @property
    def own_origins(self) -> tuple[str, ...]:
        """The origins of the service's own pages, in lower case, whatever Host a proxy passes on."""
        ...

    @property
    def allow_query_tokens(self) -> bool:
        """Whether a token is accepted in the query of an address."""
        ...


class Parts(Protocol):
    """The parts of a service that requests use; any object with these properties can be served."""

    @property
    def config(self) -> Settings:
        """The settings that concern how requests are served."""
        ...

    @property
    def clock(self) -> Clock:
        """The clock that all rules use."""
        ...

    @property
    def random_bytes(self) -> RandomBytes:
        """Random bytes for the ids of requests and sessions."""
        ...

    @property
    def ids(self) -> ObjectIds:
        """The source of object ids."""
        ...

    @property
    def database(self) -> Database:
        """Runs units of work, and holds the answers kept under Idempotency-Keys."""
        ...

    @property
    def system(self) -> System:
        """Sends commands to actors."""
        ...

    @property
    def keys(self) -> Keys:
        """The service's keys, which seal kept answers."""
        ...

    @property
    def authenticator(self) -> Authenticator:
        """Verifies users' credentials."""
        ...

    @property
    def server_authenticator(self) -> ServerAuthenticator:
        """Verifies game servers' credentials."""
        ...

    @property
    def limits(self) -> Limits:
        """The rate limits."""
        ...

    @property
    def metrics(self) -> Metrics:
        """Counts responses."""
        ...

    @property
    def sockets(self) -> Sockets:
        """All open live sockets."""
        ...

    @property
    def arriving(self) -> Tabs:
        """Accounts of the bytes of arriving bodies."""
        ...

    @property
    def unsent(self) -> Unsent:
        """Accounts of the bytes that wait for slow clients."""
        ...

    @property
    def others(self) -> Others | None:
        """The other nodes; None for a node that serves alone."""
        ...

    @property
    def draining(self) -> bool:
        """Whether the service is stopping, so that no new stream is opened."""
        ...
