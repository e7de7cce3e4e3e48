"""The parts of a service that the edge needs, for tests of the pipeline, and who may ask."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from actors.ids import UserId, Uuid
from actors.kernel.directory import System
from persistence.bridge.database import Database
from routes.config.config import Config, read_config
from routes.edge.errors import BadServerCredentials, TokenExpired, Unauthenticated
from routes.edge.incoming import arriving_bodies
from routes.edge.limits import Limits
from routes.edge.pipeline.metrics import Metrics
from routes.edge.principal import ServerPrincipal, UserPrincipal
from routes.edge.tabs import Tabs
from routes.edge.unsent import Unsent
from routes.edge.websocket.registry import Sockets

NOW_MS = 1_795_231_234_123


@dataclass(frozen=True)
class Rights:
    """Rights for tests."""

    nodes: frozenset[str] = frozenset()
    is_moderator: bool = False
    is_super_admin: bool = False

    def allows(self, node: str) -> bool:
        return node in self.nodes

    def quota(self, node: str) -> None:
        return None


def user(number: int, *nodes: str, **roles: bool) -> UserPrincipal:
    id = UserId(Uuid(f"00000000-0000-4000-8000-{number:012}"))
    return UserPrincipal(id, f"user {number}", NOW_MS + 60_000, Rights(frozenset(nodes), **roles))


USERS = {
    "ann": user(1, "things:read", "things:write"),
    "bob": user(2, "things:read", "things:write"),
    "nobody": user(3),
    "mod": user(4, is_moderator=True),
    "root": user(5, is_moderator=True, is_super_admin=True),
}


class TableAuthenticator:
    """Tokens are the names in `USERS`."""

    def known(self, carried: bytes, now_ms: int) -> UserPrincipal | None:
        return USERS.get(carried.decode().removeprefix("Bearer "))

    async def user(self, token: str) -> UserPrincipal:
        if token == "old":
            raise TokenExpired
        if token not in USERS:
            raise Unauthenticated
        return USERS[token]


LENT = Rights(frozenset({"things:lend"}))


class TableServerAuthenticator:
    """The secret of a server is its id, backwards; `lobby` is remembered and holds a node, others neither."""

    def known(self, carried: bytes, server_id: bytes, now_ms: int) -> ServerPrincipal | None:
        known = (carried, server_id) == (b"Bearer ybbol", b"lobby")
        return ServerPrincipal("lobby", None, None, LENT, None, 1) if known else None

    def called(self, principal: ServerPrincipal, address: str, now_ms: int) -> None:
        pass

    async def server(self, token: str, server_id: str) -> ServerPrincipal:
        if token != server_id[::-1]:
            raise BadServerCredentials
        return ServerPrincipal(server_id, None, None, Rights(), None, 1)


@dataclass
class FixedClock:
    at_ms: int = NOW_MS

    def now_ms(self) -> int:
        return self.at_ms


@dataclass(frozen=True)
class Keys:
    sealing_key: bytes = b"k" * 32


@dataclass
class Parts:
    """The parts of a service that the edge touches."""

    config: Config = field(
        default_factory=lambda: read_config({"PARTYLINE_CORS_ORIGINS": "https://app.example"})
    )
    clock: FixedClock = field(default_factory=FixedClock)
    random_bytes: Callable[[int], bytes] = field(default_factory=lambda: Random(1).randbytes)
    database: Database | None = None
    system: System | None = None
    authenticator: TableAuthenticator = field(default_factory=TableAuthenticator)
    server_authenticator: TableServerAuthenticator = field(default_factory=TableServerAuthenticator)
    keys: Keys = field(default_factory=Keys)
    limits: Limits = field(default_factory=Limits)
    metrics: Metrics = field(default_factory=Metrics)
    arriving: Tabs = field(default_factory=arriving_bodies)
    unsent: Unsent = field(default_factory=Unsent)
    draining: bool = False
    others: None = None

    def __post_init__(self) -> None:
        self.sockets = Sockets(self.clock, Random(1))
