"""What a client may be refused with, for OpenAPI and AsyncAPI: what handler and guard declare, and what the pipeline
itself adds because of what is declared (a body, a rule for callers, an Idempotency-Key).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http import HTTPStatus

from actors.errors import Draining, Elsewhere, Forbidden, Invalid, NotFound, Overloaded, Refused
from routes.edge import errors
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.route import Endpoint, Route, Stream
from routes.edge.docs.schemas import Schema, Schemas
from routes.edge.principal import PUBLIC, SERVER
from routes.edge.problems import Problem
from routes.edge.transport.refusals import BadRequest, RequestTimeout, UpgradeRequired


@dataclass(frozen=True, slots=True)
class Refusal:
    """All refusals of one status.

    Args:
        status: the status of the response.
        text: its description, for people.
        schema: the schema of its body, which names the codes that it may have; all routes with these share it.
    """

    status: HTTPStatus
    text: str
    schema: Schema


def by_status(refusals: Iterable[type[Refused]], schemas: Schemas) -> Iterator[Refusal]:
    """The refusals grouped into one entry for each status, sorted by status.

    Args:
        refusals: the refusals of one route; duplicates are ignored.
        schemas: schemas that know `Problem`.
    """
    codes: dict[int, dict[str, None]] = {}
    for refusal in refusals:
        codes.setdefault(refusal.status_hint, {})[refusal.code] = None
    for status, named in sorted(codes.items()):
        text = f"{HTTPStatus(status).phrase}: {', '.join(named)}"
        yield Refusal(HTTPStatus(status), text, _narrowed(sorted(named), schemas))


def _narrowed(codes: list[str], schemas: Schemas) -> Schema:
    """The schema of a problem that has one of some codes, which stand in its name."""
    name = "".join(code.title().replace("_", "") for code in codes) + "Problem"
    one_of_them = {"properties": {"code": {"enum": codes}}}
    return schemas.add(name, {"allOf": [schemas.of(Problem), one_of_them]})


def refusals_of(endpoint: Endpoint, *, ranges: bool) -> Iterator[type[Refused]]:
    """The refusals that a client may get: those of the pipeline, then those of guard and handler.

    Args:
        endpoint: the declared endpoint.
        ranges: whether clients may ask for a range of its content.
    """
    yield from (errors.RateLimited, errors.Internal, errors.PayloadTooLarge)
    yield from (errors.DatabaseDown, Overloaded, Draining, Elsewhere)
    yield from _of_route(endpoint)
    if endpoint.body is not None:
        yield from (errors.MalformedJson, errors.UnsupportedMedia, RequestTimeout)
        if endpoint.body is not BodyPieces:
            yield Invalid
    if endpoint.keyed:
        yield from (errors.BadQuery, errors.IdempotencyInProgress, errors.IdempotencyKeyReused)
    if ranges:
        yield errors.RangeNotSatisfiable
    yield from endpoint.refusals


def refusals_of_handshake(stream: Stream) -> Iterator[type[Refused]]:
    """The refusals in place of an upgrade.

    Args:
        stream: the declared stream.
    """
    yield from (BadRequest, UpgradeRequired, errors.OriginRefused, errors.RateLimited, errors.Internal)
    yield from (errors.DatabaseDown, Overloaded, Draining, Elsewhere)
    yield from _of_route(stream)
    yield from stream.refusals


def _of_route(route: Route) -> Iterator[type[Refused]]:
    """What credentials, rights, path and query of a route may be refused with."""
    if route.needs is SERVER or route.shared:
        yield from (errors.BadServerCredentials, errors.TokenExpired)
    if route.needs is not PUBLIC and route.needs is not SERVER:
        yield from (errors.Unauthenticated, errors.TokenExpired, errors.UpstreamUnavailable)
        if isinstance(route.needs, str) or route.needs.value in {"moderator", "super-admin"}:
            yield Forbidden
    if route.refuse_query_tokens:
        yield errors.TokenInQuery
    yield from (parameter.not_found for parameter in route.parameters)
    if route.query is not None and not route.query.lenient:
        yield errors.BadQuery
    if route.parameters and route.guard is not None:
        yield NotFound
