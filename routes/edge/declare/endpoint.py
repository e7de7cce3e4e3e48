"""Declarations of the API: `@endpoint` for requests, `@stream` for WebSockets.

Every route of the service is declared here. From the declarations come the pipeline's checks (`dispatch.py`), OpenAPI
and AsyncAPI, `partyline routes` and the authorisation matrix. `needs` has no default, so that a route without a
permission rule fails at import (reliability R15).

The handler's annotations are part of the declaration:

    @endpoint("POST", "/v1/things/{thingId}/parts", needs="things:write", status=201, guard=member_of)
    async def add_part(call: Call, thing_id: ObjectId, body: NewPart) -> Part:
        \"\"\"Adds a part. (This text becomes the OpenAPI description.)\"\"\"

Path parameters are arguments named in snake_case; the last may be a `{*rest}`, which takes all segments that are left
and loses to every route that names them. `body` and `query` have those names; the return annotation is the
result's type. A body is a struct (JSON), `bytes` (raw, read whole), or `BodyPieces` (raw, read by the handler).
"""

import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from actors.errors import NotFound, Refused
from routes.edge import policies
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.query import PathParam, QueryPlan
from routes.edge.declare.shown import ShownChannel
from routes.edge.declare.signature import Handler, Signature, template, without_none, wrappers_of
from routes.edge.listener import Listener
from routes.edge.policies import Policy
from routes.edge.principal import PUBLIC, SERVER, USER_OR_SERVER, Needs
from routes.edge.wire import Shape

Guard = Callable[..., object]
"""`fn(call, **some path parameters) -> MaybeAwaitable[subject]`; checks membership before the body is read."""

StreamHandler = Callable[..., Awaitable[Listener | None]]
"""`async fn(call, socket, **path, query)`; subscribes the socket, and returns the listener for the client's messages.
"""

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")

KEYED_METHODS = frozenset({"POST", "PUT"})
"""Methods that take an Idempotency-Key; PATCH and DELETE can be repeated without one."""

JSON_MAX_BYTES = 256 * 1024
"""The largest body of a route that declares no other bound."""

JSON_MEDIA = "application/json"

BYTES_MEDIA = "application/octet-stream"

RAW_BODIES = (bytes, BodyPieces)
"""The types that declare a body that is not JSON."""

_NODE = re.compile(r"[a-z0-9.*-]+(?::[a-zA-Z0-9.*_-]+)+")


Again: TypeAlias = Callable[..., Awaitable[object]]
"""`async def again(call, id, arguments)`: the reply to a repeated request as it would be now, given the `id` in the
first reply and the arguments of path, query and body."""


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


def endpoint(
    method: str,
    path: str,
    *,
    needs: Needs,
    servers: Needs | None = None,
    status: int = 200,
    found_status: int | None = None,
    rate: Policy | None = None,
    rate_key: str | None = None,
    refusals: Sequence[type[Refused]] = (),
    guard: Guard | None = None,
    not_found: Mapping[str, type[NotFound]] | None = None,
    media: Sequence[str] = (),
    max_bytes: int | Callable[[Any], int] = JSON_MAX_BYTES,
    secret_reply: bool = False,
    again: Again | None = None,
    cacheable: str | None = None,
    refuse_query_tokens: bool = False,
    produces: str | None = None,
    aliases: Sequence[str] = (),
    cookies: bool = False,
    keyed: bool = True,
) -> Callable[[Handler], Endpoint]:
    """Declare a request. The decorated name becomes the `Endpoint`, whose class and `Route` explain the arguments:
    `method`, `status`, `found_status`, `rate_key`, `secret_reply`, `cacheable`, `refuse_query_tokens`, `produces`,
    `cookies`, `keyed`, `rate`, …. `not_found` is {path parameter: its refusal}. May raise ValueError."""

    def declare(handler: Handler) -> Endpoint:
        signature, body, optional = _read(handler, method, path, not_found)
        return Endpoint(
            method=method,
            path=path,
            needs=needs,
            servers=servers,
            rate=rate or _default_rate(method, needs),
            rate_key=rate_key,
            refusals=tuple(refusals),
            guard=guard,
            parameters=signature.parameters,
            query=signature.query,
            handler=handler,
            refuse_query_tokens=refuse_query_tokens,
            status=status,
            found_status=found_status,
            body=body,
            body_optional=optional,
            media=tuple(media) or ((BYTES_MEDIA if body is BodyPieces else JSON_MEDIA),),
            max_bytes=max_bytes,
            returns=signature.returns,
            secret_reply=secret_reply,
            again=again,
            cacheable=cacheable,
            produces=produces,
            aliases=tuple(aliases),
            cookies=cookies,
            keyed=keyed,
        )

    return declare


def stream(
    path: str,
    *,
    needs: Needs,
    servers: Needs | None = None,
    sends: Sequence[object],
    receives: Sequence[object] = (),
    refusals: Sequence[type[Refused]] = (),
    guard: Guard | None = None,
    not_found: Mapping[str, type[NotFound]] | None = None,
    shows: Sequence[ShownChannel] = (),
    greets: bool = False,
) -> Callable[[StreamHandler], Stream]:
    """Declare a WebSocket; the decorated name becomes the `Stream`.

    The handler is `async fn(call, socket, **path, query) -> Listener | None` and runs after the upgrade; every check
    comes before it. Contradictions in the declaration raise ValueError, KeyError or TypeError at import.

    Args:
        path: the path with `{camelCase}` parameters.
        needs: the rule for callers (`routes/edge/principal.py`).
        servers: the rule for game servers where `needs` is one for users, or None.
        sends: the structs of the server's frames, for AsyncAPI.
        receives: the structs of the client's frames.
        refusals: the refusals that the guard may raise.
        guard: checks membership before the upgrade.
        not_found: {path parameter: the refusal of a malformed value}.
        shows: the channels of a stream that carries several, for AsyncAPI.
        greets: as in `Stream`.
    """

    def declare(handler: StreamHandler) -> Stream:
        signature = Signature.of(handler, path, not_found or {})
        return Stream(
            method="GET",
            path=path,
            needs=needs,
            servers=servers,
            rate=_default_rate("GET", needs),
            rate_key=None,
            refusals=tuple(refusals),
            guard=guard,
            parameters=signature.parameters,
            query=signature.query,
            handler=handler,
            refuse_query_tokens=True,
            sends=tuple(sends),
            receives=tuple(receives),
            shows=tuple(shows),
            greets=greets,
        )

    return declare


def _default_rate(method: str, needs: Needs) -> Policy:
    if needs is PUBLIC:
        return policies.PUBLIC
    if needs is SERVER:
        return policies.SERVER
    return policies.USER_READ if method == "GET" else policies.USER_WRITE


def _check(method: str, path: str, needs: Needs, servers: Needs | None) -> None:
    if method not in METHODS:
        raise ValueError(f"{method} {path}: not one of {METHODS}")
    for rule in (needs, servers):
        if isinstance(rule, str) and _NODE.fullmatch(rule) is None:
            raise ValueError(f"{method} {path}: {rule!r} is neither a Need nor a permission node")
    if servers is not None and needs in {PUBLIC, SERVER, USER_OR_SERVER}:
        raise ValueError(f"{method} {path}: servers have a rule of their own beside one for users only")


def _read(
    handler: Handler, method: str, path: str, not_found: Mapping[str, type[NotFound]] | None
) -> tuple[Signature, object | None, bool]:
    """The signature of a request's handler, the type of its body, and whether that may be absent."""
    signature = Signature.of(handler, path, not_found or {})
    body, optional = without_none(signature.body)
    if body is BodyPieces and (optional or method != "PUT"):
        raise ValueError(f"{method} {path}: pieces are put, and always a body")
    return signature, body, optional


def _taken_by(guard: Guard | None, parameters: Iterable[PathParam]) -> frozenset[str]:
    if guard is None:
        return frozenset()
    named = inspect.signature(guard).parameters
    return frozenset(parameter.name for parameter in parameters if parameter.name in named)
