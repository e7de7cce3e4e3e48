"""What the edge needs of the service that it answers for; whoever has these parts can be served."""

from typing import Protocol

from actors.ids import ObjectIds, RandomBytes
from actors.kernel.clock import Clock
from actors.kernel.directory import System
from persistence.bridge.database import Database
from routes.edge.config.table import Config
from routes.edge.identity.credentials import Authenticator, ServerAuthenticator
from routes.edge.identity.keys import Keys
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.tabs import Tabs
from routes.edge.unsent import Unsent
from routes.edge.websocket.registry import Sockets


class Parts(Protocol):
    """The parts of a service that every request passes."""

    @property
    def config(self) -> Config:
        """As read from the environment."""
        ...

    @property
    def clock(self) -> Clock:
        """The time of all rules."""
        ...

    @property
    def random_bytes(self) -> RandomBytes:
        """Where ids of requests and sessions come from."""
        ...

    @property
    def ids(self) -> ObjectIds:
        """Where object ids come from."""
        ...

    @property
    def database(self) -> Database:
        """For units of work, and for answers kept under an Idempotency-Key."""
        ...

    @property
    def system(self) -> System:
        """For commands to actors."""
        ...

    @property
    def keys(self) -> Keys:
        """What kept answers are sealed with."""
        ...

    @property
    def authenticator(self) -> Authenticator:
        """Knows users."""
        ...

    @property
    def server_authenticator(self) -> ServerAuthenticator:
        """Knows game servers."""
        ...

    @property
    def limits(self) -> Limits:
        """The buckets of the rate limits."""
        ...

    @property
    def metrics(self) -> Metrics:
        """Where answers are counted."""
        ...

    @property
    def sockets(self) -> Sockets:
        """All open live sockets."""
        ...

    @property
    def arriving(self) -> Tabs:
        """Where bodies that arrive are written down."""
        ...

    @property
    def unsent(self) -> Unsent:
        """Where what waits for clients is written down."""
        ...

    @property
    def draining(self) -> bool:
        """The service stops: nothing new is begun."""
        ...
