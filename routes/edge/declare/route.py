"""A declared route: the record that `@endpoint` and `@stream` (`endpoint.py`) make of a handler.

From these records come the pipeline's checks (`dispatch.py`), OpenAPI and AsyncAPI, `partyline routes` and the
authorisation matrix. One that contradicts itself is not made: it raises at import.
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from actors.errors import Refused
from routes.edge import policies
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.query import PathParam, QueryPlan
from routes.edge.declare.shown import ShownChannel
from routes.edge.declare.signature import Handler, template, wrappers_of
from routes.edge.listener import Listener
from routes.edge.policies import Policy
from routes.edge.principal import PUBLIC, SERVER, USER_OR_SERVER, Needs
from routes.edge.wire import Shape

Guard = Callable[..., object]
"""`fn(call, **some path parameters) -> MaybeAwaitable[subject]`; checks membership before the body is read."""

StreamHandler = Callable[..., Awaitable[Listener | None]]
"""`async fn(call, socket, **path, query)`; subscribes the socket, and returns the listener for the client's messages.
"""

Again: TypeAlias = Callable[..., Awaitable[object]]
"""`async def again(call, id, arguments)`: the reply to a repeated request as it would be now, given the `id` in the
first reply and the arguments of path, query and body."""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

KEYED_METHODS = frozenset({"POST", "PUT"})
"""Methods that take an Idempotency-Key; PATCH and DELETE can be repeated without one."""

RAW_BODIES = (bytes, BodyPieces)
"""The types that declare a body that is not JSON."""

_NODE = re.compile(r"[a-z0-9.*-]+(?::[a-zA-Z0-9.*_-]+)+")

_OF_USERS = (policies.USER_READ, policies.USER_WRITE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Route:
    """What requests and streams have in common.

    Args:
        method: the HTTP method; `GET` for a stream.
        path: the path with `{camelCase}` parameters; the last may be a `{*rest}`.
        needs: the rule for callers (`routes/edge/principal.py`).
        servers: the rule for game servers where `needs` is one for users: `SERVER` for any, or a node; None where
            `needs` is the only rule.
        rate: the policy that counts its calls; by default chosen by method and `needs`.
        rate_key: the path parameter whose values are counted separately, or None.
        refusals: the refusals that handler and guard may raise, beside those of the pipeline itself.
        guard: checks whether the caller belongs here, before the body is read; its result becomes `call.subject`.
        parameters: the path's parameters, in order.
        query: how the query is decoded; None for a handler that takes no query.
        handler: the declared function.
        refuse_query_tokens: whether a credential in the address is refused with a 400 (contract §2).
        area: the mount that the route belongs to; the tag in OpenAPI.
        shared: whether both users and game servers are admitted; X-Server-Id then tells them apart.
        server_rate: the policy that counts the calls of game servers: `rate`, unless that is one of users by default.
        guard_takes: the path parameters that are arguments of the guard.
        line: method and path, as documents write it, for logs and metrics.
    """

    method: str
    path: str
    needs: Needs
    servers: Needs | None
    rate: Policy
    rate_key: str | None
    refusals: tuple[type[Refused], ...]
    guard: Guard | None
    parameters: tuple[PathParam, ...]
    query: QueryPlan | None
    handler: Handler
    refuse_query_tokens: bool
    area: str = ""
    shared: bool = field(init=False)
    server_rate: Policy = field(init=False)
    guard_takes: frozenset[str] = field(init=False)
    line: str = field(init=False)

    def __post_init__(self) -> None:
        _check(self.method, self.path, self.needs, self.servers)
        object.__setattr__(self, "shared", self.needs is USER_OR_SERVER or self.servers is not None)
        object.__setattr__(self, "server_rate", policies.SERVER if self.rate in _OF_USERS else self.rate)
        object.__setattr__(self, "guard_takes", _taken_by(self.guard, self.parameters))
        object.__setattr__(self, "line", f"{self.method} {template(self.path)}")

    @property
    def templates(self) -> tuple[str, ...]:
        """The route's paths as documents write them: first its own, then its aliases."""
        return (template(self.path),)

    @property
    def name(self) -> str:
        """The handler's name, from which the operation's id is made."""
        return self.handler.__name__


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Endpoint(Route):
    """A declared request.

    Args:
        status: the status of a success with a body; a handler that returns None answers 204.
        found_status: the status of a success that created nothing because the object existed; None where that cannot
            happen.
        body: the type of the body, `bytes` or `BodyPieces` for a raw one, None for none.
        body_optional: whether the body may be empty, for which the handler gets None; otherwise that is an error.
        media: the content types that are accepted; by default JSON, and any bytes for `BodyPieces`.
        max_bytes: the largest body, or a function of the service's settings that returns it.
        returns: the type of the result for OpenAPI: a type, `Blob`, or None.
        secret_reply: whether the reply holds a secret, so that it is sealed if it is kept for repeats.
        again: makes the reply to a repeated request anew, because what it shows may be gone by then; only the first
            reply's `id` is kept. None where the first reply is kept whole.
        cacheable: the Cache-Control of a GET that carries an ETag, or None.
        produces: the media type of a `Page` or `Blob`, for OpenAPI; None for HTML, or any bytes.
        aliases: other paths to the same endpoint.
        cookies: whether the handler reads cookies, or its answer is useless without the cookie that it sets.
        keyed: whether its answer is kept for repeats under an Idempotency-Key. False where `cookies` is true, as a kept
            answer sets none, and where it is declared so because the answer is useless later.
        shape: how a JSON body is decoded; None for no body or a raw one.
        wrappers: the annotations of the result that say how it is sent: `Tagged`, `Stored`, ….
    """

    status: int
    found_status: int | None
    body: object | None
    body_optional: bool
    media: tuple[str, ...]
    max_bytes: int | Callable[[Any], int]
    returns: object | None
    secret_reply: bool
    again: Again | None
    cacheable: str | None
    produces: str | None
    aliases: tuple[str, ...]
    cookies: bool
    keyed: bool
    shape: Shape | None = field(init=False)
    wrappers: frozenset[object] = field(init=False)

    def __post_init__(self) -> None:
        Route.__post_init__(self)
        object.__setattr__(self, "wrappers", wrappers_of(self.handler))
        object.__setattr__(self, "keyed", self.keyed and self.method in KEYED_METHODS and not self.cookies)
        shape = None if self.body in (None, *RAW_BODIES) else Shape(self.body)
        object.__setattr__(self, "shape", shape)

    @property
    def templates(self) -> tuple[str, ...]:
        """The paths of the endpoint and of its aliases, as `Route` describes."""
        return tuple(map(template, (self.path, *self.aliases)))

    def body_bound(self, settings: object) -> int:
        """The most bytes of a body that are accepted.

        Args:
            settings: the service's settings, for a bound that is one of them.
        """
        return self.max_bytes if isinstance(self.max_bytes, int) else self.max_bytes(settings)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stream(Route):
    """A declared WebSocket.

    Args:
        handler: the declared function.
        sends: the structs of the server's frames.
        receives: the structs of the client's frames.
        shows: the channels of a stream that carries several; else empty.
        greets: whether the handler sends a frame before it waits for anything, so that the frame leaves together with
            the 101 response.
    """

    handler: StreamHandler
    sends: tuple[object, ...]
    receives: tuple[object, ...]
    shows: tuple[ShownChannel, ...] = ()
    greets: bool = False


def _check(method: str, path: str, needs: Needs, servers: Needs | None) -> None:
    if method not in METHODS:
        raise ValueError(f"{method} {path}: not one of {METHODS}")
    for rule in (needs, servers):
        if isinstance(rule, str) and _NODE.fullmatch(rule) is None:
            raise ValueError(f"{method} {path}: {rule!r} is neither a Need nor a permission node")
    if servers is not None and needs in {PUBLIC, SERVER, USER_OR_SERVER}:
        raise ValueError(f"{method} {path}: servers have a rule of their own beside one for users only")


def _taken_by(guard: Guard | None, parameters: Iterable[PathParam]) -> frozenset[str]:
    if guard is None:
        return frozenset()
    named = inspect.signature(guard).parameters
    return frozenset(parameter.name for parameter in parameters if parameter.name in named)
