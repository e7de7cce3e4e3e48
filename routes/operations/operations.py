"""Operating the service: liveness, readiness, metrics, and API documents (contract §11).

`/health` does not ask the database, so that a process is not restarted because its database is unavailable; `/ready`
does, so that such a process gets no traffic.
"""

from hmac import compare_digest
from importlib.resources import files

from actors.errors import Draining, NotFound
from persistence.schema.migrate import unapplied
from routes.call import Call
from routes.edge.address import is_loopback
from routes.edge.declare.endpoint import endpoint
from routes.edge.docs.asyncapi import asyncapi
from routes.edge.docs.openapi import openapi
from routes.edge.docs.version import VERSION
from routes.edge.documents import Document
from routes.edge.errors import DatabaseDown, Unauthenticated
from routes.edge.identity.credentials import bearer
from routes.edge.pipeline.metrics import CONTENT_TYPE
from routes.edge.pipeline.rendering import JSON_HEADER, page_headers
from routes.edge.principal import PUBLIC
from routes.edge.reply import NO_SOURCES, MaybeAwaitable, Page
from routes.edge.wire import Wire
from routes.rates import OPERATIONS

DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

# {name in the address: (file below routes/static, media type)}
DOCS_FILES = {
    "start.js": ("docs.js", "text/javascript; charset=utf-8"),
    "swagger-ui-bundle.js": ("swagger-ui/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    "swagger-ui.css": ("swagger-ui/swagger-ui.css", "text/css; charset=utf-8"),
}

HTML = "text/html; charset=utf-8"

_FORWARDED = frozenset(
    {b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
)
"""Headers that proxies add; any of them reveals a proxy, even one that is not configured."""

STABLE = "public, max-age=300"
"""Cache-Control of what changes only with a release: revalidated after five minutes, usually with a 304."""


class Checks(Wire, frozen=True):
    """The state of what the service depends on.

    Args:
        database: `ok` or `unavailable`.
    """

    database: str


class Health(Wire, frozen=True):
    """The process is alive.

    Args:
        status: `ok`; `degraded` while the database is unavailable; `draining` before the process stops.
        version: version of the service.
        uptime_ms: milliseconds since the start of the process.
        checks: the last known states; nothing is checked for this answer.
    """

    status: str
    version: str
    uptime_ms: int
    checks: Checks


class Ready(Wire, frozen=True):
    """The process accepts traffic.

    Args:
        status: always `ok`; a process that is not ready answers 503.
    """

    status: str


@endpoint("GET", "/health", needs=PUBLIC, rate=OPERATIONS)
def health(call: Call) -> Health:
    """Answers that the process is alive, with the last known state of the database, which is not asked here."""
    service = call.service
    available = service.database.available
    status = "draining" if service.draining else "ok" if available else "degraded"
    return Health(
        status,
        VERSION,
        call.now_ms - service.lifecycle.started_at_ms,
        Checks("ok" if available else "unavailable"),
    )


@endpoint("GET", "/ready", needs=PUBLIC, rate=OPERATIONS, refusals=(Draining, DatabaseDown))
async def ready(call: Call) -> Ready:
    """Answers 200 if the process accepts traffic: the database answers, has all migrations, and no other process has
    taken it, and the process is not stopping, nor about to. Otherwise it is a 503: Draining, or DatabaseDown.
    """
    service = call.service
    if service.draining or service.leaving:
        raise Draining
    missing = await service.database.read(unapplied)
    if missing:
        raise DatabaseDown("migrations are missing", migrations=list(missing))
    if service.node is None and not service.placement.held():
        raise DatabaseDown("another process serves this database")
    return Ready("ok")


def operator_of(call: Call) -> None:
    """Guard: requires a request from this machine, or `PARTYLINE_METRICS_TOKEN` as bearer token.

    A request that a proxy forwarded does not count as from this machine, whether or not the proxy is configured.

    Raises:
        Unauthenticated: neither holds.
    """
    config = call.service.config
    forwarded = any(name in _FORWARDED or name == config.client_ip_header for name, _ in call.headers)
    if not forwarded and is_loopback(call.client_address):
        return
    token = bearer(call.header(b"authorization"))
    known = config.metrics_token
    if known is None or token is None or not compare_digest(token.encode(), known.encode()):
        raise Unauthenticated


@endpoint(
    "GET",
    "/metrics",
    needs=PUBLIC,
    rate=OPERATIONS,
    guard=operator_of,
    refusals=(Unauthenticated,),
    produces="text/plain",
)
def metrics(call: Call) -> Page:
    """Answers the metrics in Prometheus' text format. Needs a request from this machine, or `PARTYLINE_METRICS_TOKEN`
    as bearer token.
    """
    return Page(call.service.metrics.text(), content_type=CONTENT_TYPE)


@endpoint("GET", "/openapi.json", needs=PUBLIC, rate=OPERATIONS, cacheable=STABLE)
def openapi_document(call: Call) -> MaybeAwaitable[Document[dict[str, object]]]:
    """This description, OpenAPI 3.1."""
    return call.service.documents.get("openapi.json", lambda: _description(openapi(call.table)))


@endpoint("GET", "/asyncapi.json", needs=PUBLIC, rate=OPERATIONS, cacheable=STABLE)
def asyncapi_document(call: Call) -> MaybeAwaitable[Document[dict[str, object]]]:
    """The description of the WebSocket streams, AsyncAPI 3.0."""
    return call.service.documents.get("asyncapi.json", lambda: _description(asyncapi(call.table)))


@endpoint("GET", "/docs", needs=PUBLIC, rate=OPERATIONS, cacheable=STABLE)
def read_docs(call: Call) -> MaybeAwaitable[Document[Page]]:
    """The description as a page to read and to try out; it loads nothing from other hosts."""
    return call.service.documents.get("docs", lambda: _shipped("docs.html", HTML, DOCS_POLICY))


@endpoint("GET", "/docs/{file}", needs=PUBLIC, rate=OPERATIONS, cacheable=STABLE, produces="text/*")
def read_docs_file(call: Call, file: str) -> MaybeAwaitable[Document[Page]]:
    """A script or style sheet of the page at `/docs`; another name is a 404."""
    found = DOCS_FILES.get(file)
    if found is None:
        raise NotFound
    path, media = found
    return call.service.documents.get(path, lambda: _shipped(path, media, NO_SOURCES))


def _description(text: bytes) -> Document[dict[str, object]]:
    return Document(text, [JSON_HEADER], STABLE)


def _shipped(path: str, media: str, policy: str) -> Document[Page]:
    content = files("routes").joinpath("static", path).read_bytes()
    return Document(content, page_headers(media, policy), STABLE)
