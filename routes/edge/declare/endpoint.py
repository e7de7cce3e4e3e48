"""Declarations of the API: `@endpoint` for requests, `@stream` for WebSockets.

Every route of the service is declared by these, and becomes a record (`route.py`). `needs` has no default, so that a
route without a permission rule fails at import (reliability R15).

The handler's annotations are part of the declaration:

    @endpoint("POST", "/v1/things/{thingId}/parts", needs="things:write", status=201, guard=member_of)
    async def add_part(call: Call, thing_id: ObjectId, body: NewPart) -> Part:
        \"\"\"Adds a part. (This text becomes the OpenAPI description.)\"\"\"

Path parameters are arguments named in snake_case; the last may be a `{*rest}`, which takes all segments that are left
and loses to every route that names them. `body` and `query` have those names; the return annotation is the
result's type. A body is a struct (JSON), `bytes` (raw, read whole), or `BodyPieces` (raw, read by the handler).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from actors.errors import NotFound, Refused
from routes.edge import policies
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.route import Again, Endpoint, Guard, Stream, StreamHandler
from routes.edge.declare.shown import ShownChannel
from routes.edge.declare.signature import Handler, Signature, without_none
from routes.edge.policies import Policy
from routes.edge.principal import PUBLIC, SERVER, Needs

JSON_MAX_BYTES = 256 * 1024
"""The largest body of a route that declares no other bound."""

JSON_MEDIA = "application/json"

BYTES_MEDIA = "application/octet-stream"


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


def _read(
    handler: Handler, method: str, path: str, not_found: Mapping[str, type[NotFound]] | None
) -> tuple[Signature, object | None, bool]:
    """The signature of a request's handler, the type of its body, and whether that may be absent."""
    signature = Signature.of(handler, path, not_found or {})
    body, optional = without_none(signature.body)
    if body is BodyPieces and (optional or method != "PUT"):
        raise ValueError(f"{method} {path}: pieces are put, and always a body")
    return signature, body, optional
