"""The headers of requests and responses that OpenAPI describes: those that mean more than how a body is carried."""

from collections.abc import Iterator
from http import HTTPStatus

from actors.errors import RevisionConflict
from routes.edge.declare.route import Endpoint
from routes.edge.docs.schemas import Schema, alternatives
from routes.edge.documents import Document
from routes.edge.reply import Blob, Redirect, Tagged
from routes.edge.stored import Stored

REFERENCE = "#/components/headers/{name}"

_FOUND = (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED)


def _header(description: str, *, always: bool = False, type_: str = "string") -> Schema:
    described: Schema = {"description": description, "schema": {"type": type_}}
    return {**described, "required": True} if always else described


HEADERS: Schema = {
    "X-Request-Id": _header("Names this request in our log.", always=True),
    "RateLimit-Policy": _header(
        'The rate that has counted this request: `"name";q=quota;w=seconds`. Absent where none did.'
    ),
    "RateLimit": _header('What is left of it: `"name";r=remaining;t=seconds until all is there again`.'),
    "Retry-After": _header("Seconds after which the request may be repeated.", always=True, type_="integer"),
    "WWW-Authenticate": _header("`Bearer`.", always=True),
    "ETag": _header("Changes with the content. An answer that is replayed has that of the first."),
    "Location": _header("Where the content lies.", always=True),
    "Idempotent-Replayed": _header("`true` where the answer is that to an earlier request with this key."),
    "Accept-Ranges": _header("`bytes`, of a file."),
    "Content-Range": _header("Which bytes of how many: `bytes 0-99/1000`.", always=True),
    "Age": _header("Seconds since the answer was made.", always=True, type_="integer"),
    "Cache-Status": _header("Whether the answer was in the store (RFC 9211).", always=True),
}
"""{name: description} of all response headers that are described."""

KEY_PARAMETER: Schema = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Repeats of this key and body within 24 h get the first answer, with no second effect.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}

CONDITION_PARAMETER: Schema = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The `ETag` of what is to be changed or removed; where it has become another one, nothing is.",
    "schema": {"type": "string"},
}


def is_revalidated(endpoint: Endpoint) -> bool:
    """Whether an endpoint answers 304 to a client that names the current ETag in If-None-Match."""
    kept = endpoint.cacheable is not None or Blob in alternatives(endpoint.returns)
    return kept or not endpoint.wrappers.isdisjoint({Document, Stored})


def takes_condition(endpoint: Endpoint) -> bool:
    """Whether an endpoint heeds If-Match: it changes or removes an object only if it is as the client knows it.

    A DELETE has neither an answer with an ETag nor a body that names a revision: its refusals say so.
    """
    if endpoint.method == "DELETE":
        return RevisionConflict in endpoint.refusals
    return Tagged in endpoint.wrappers and endpoint.method in {"PUT", "PATCH"}


def headers_of(endpoint: Endpoint, status: HTTPStatus) -> Schema:
    """References to the headers of a response.

    Args:
        endpoint: the declared endpoint.
        status: the status of the response.
    """
    return {name: {"$ref": REFERENCE.format(name=name)} for name in _names(endpoint, status)}


def _names(endpoint: Endpoint, status: HTTPStatus) -> Iterator[str]:
    yield from ("X-Request-Id", "RateLimit-Policy", "RateLimit")
    if status == HTTPStatus.UNAUTHORIZED:
        yield "WWW-Authenticate"
    if status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        yield "Retry-After"
    if status < HTTPStatus.MULTIPLE_CHOICES and endpoint.keyed:
        yield "Idempotent-Replayed"
    if status in _FOUND and (is_revalidated(endpoint) or Tagged in endpoint.wrappers):
        yield "ETag"
    if status in _FOUND and Stored in endpoint.wrappers:
        yield from ("Age", "Cache-Status")
    if status == HTTPStatus.FOUND and Redirect in alternatives(endpoint.returns):
        yield "Location"
    if Blob in alternatives(endpoint.returns):
        yield from _of_files(status)


def _of_files(status: HTTPStatus) -> Iterator[str]:
    if status in _FOUND:
        yield "Accept-Ranges"
    if status in {HTTPStatus.PARTIAL_CONTENT, HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE}:
        yield "Content-Range"
