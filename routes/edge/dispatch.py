"""The pipeline: from an abstract request to a response, through every check, in the order of contract §1.

    route, method (the carrier) → declared size → gate.py: credentials, rate, permission, membership
    → media type, query and body → idempotency → the handler, which asks the state

It knows neither Quart nor sockets: a carrier (`quart_app.py`, the lean connection) brings an `Incoming` and
takes an `Outgoing`. Nothing but cancellation ever leaves `answer`: what goes wrong is a problem document.
"""

import math
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import trio

from actors.errors import Draining, Overloaded, Refused
from persistence import receipts
from persistence.errors import RowsRejected
from routes.edge.address import Proxies
from routes.edge.asgi_socket import SocketHandler
from routes.edge.call import Call
from routes.edge.cors import Cors
from routes.edge.downloads import blob_response, with_etag
from routes.edge.endpoint import JSON_MEDIA, Endpoint, RouteTable, Stream
from routes.edge.errors import DatabaseDown, MalformedJson, UnsupportedMedia, answered, problem
from routes.edge.gate import Gate
from routes.edge.idempotency import METHODS, Attempt, Idempotency
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.reply import Blob, Page, Reply
from routes.edge.socket import LiveSocket
from routes.edge.wire import decode, encode

if TYPE_CHECKING:
    from routes.service import Service

REQUEST_SECONDS = 5.0
"""From the first check to the answer (contract §1, Deadlines), without the time in which the body arrives."""

BODY_SECONDS = 30.0
"""How long a body may take to arrive; 8 MiB at 2.3 Mbit/s."""

OFFLOAD_BYTES = 256 * 1024
"""Bodies above this are decoded in a worker thread, so that nobody else waits for it (reliability R16)."""

_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_JSON_HEADER = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True)
class Opening:
    """A WebSocket that passed every check and is to be accepted.

    Args:
        call: of the stream.
        subprotocol: to select, or None.
        headers: of the 101 response.
        run: `async fn(socket)`, the declared handler with everything else filled in.
    """

    call: Call
    subprotocol: str | None
    headers: Headers
    run: SocketHandler


class Edge:
    """Answers requests for the declared routes.

    Args:
        service: everything that is open.
        table: what is declared.
    """

    def __init__(self, service: "Service", table: RouteTable) -> None:
        config = service.config
        self.service = service
        self.table = table
        self.metrics = service.metrics
        self._proxies = Proxies(config.trusted_proxies, config.client_ip_header)
        self._cors = Cors(config.cors_origins)
        self._gate = Gate(
            service.authenticator, service.limits, config.cors_origins, config.allow_query_tokens
        )
        self._idempotency = Idempotency(service.keys.sealing_key)

    async def answer(self, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """The response to a request for a declared endpoint. Cancellation abandons the request.

        Args:
            endpoint: as declared.
            incoming: the request; HEAD for a GET endpoint is fine.
        """
        started = trio.current_time()
        call = self._call(incoming, endpoint.status)
        outgoing = await answered(
            partial(self._in_time, call, partial(self._perform, call, endpoint, incoming)),
            request_id=call.request_id,
            route=endpoint.line,
        )
        self.metrics.observe(endpoint.line, outgoing.status, trio.current_time() - started)
        return self._finished(call, incoming, outgoing)

    async def open(self, stream: Stream, incoming: Incoming) -> Outgoing | Opening:
        """What is to be done with a WebSocket handshake: refuse it with a response, or accept it.

        Args:
            stream: as declared.
            incoming: the handshake.
        """
        call = self._call(incoming, 101)
        opened: list[Opening] = []

        async def check() -> Outgoing:
            if self.service.draining:
                raise Draining
            values, subprotocol = await self._gate.pass_stream(call, stream, incoming)
            arguments: dict[str, object] = dict(values)
            if stream.query is not None:
                arguments["query"] = stream.query.decode(incoming.query)

            async def run(socket: LiveSocket) -> None:
                await stream.handler(call, socket, **arguments)

            opened.append(Opening(call, subprotocol, [], run))
            call.scope.deadline = math.inf  # a stream lasts; each of its effects has its own time
            return Outgoing(101, [])

        outgoing = await answered(
            partial(self._in_time, call, check), request_id=call.request_id, route=stream.line
        )
        self.metrics.observe(stream.line, outgoing.status, 0.0)
        if not opened:
            return self._finished(call, incoming, outgoing)
        opened[0].headers.extend(self._common(call, incoming))
        return opened[0]

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that no declared route takes.

        Args:
            incoming: the request.
            refused: why, say `RouteNotFound`.
        """
        call = self._call(incoming, 200)
        self.metrics.observe("unmatched", refused.status_hint, 0.0)
        return self._finished(call, incoming, problem(refused, call.request_id))

    def preflight(self, incoming: Incoming, methods: str) -> Outgoing:
        """The response to OPTIONS.

        Args:
            incoming: the request.
            methods: those of the route, joined by commas.
        """
        call = self._call(incoming, 204)
        headers: Headers = [(b"allow", methods.encode("ascii"))]
        if incoming.header(b"access-control-request-method") is not None:
            headers += self._cors.preflight(incoming.header(b"origin"), methods)
        return self._finished(call, incoming, Outgoing(204, headers))

    def _call(self, incoming: Incoming, status: int) -> Call:
        given = incoming.header(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given) is not None:
            request_id = given.decode("ascii")
        else:
            request_id = self.service.random_bytes(12).hex()
        return Call(
            self.service,
            self.table,
            request_id,
            self._proxies.client(incoming.peer, incoming.headers),
            incoming.headers,
            status=status,
            now_ms=self.service.clock.now_ms(),
            scope=trio.CancelScope(deadline=trio.current_time() + REQUEST_SECONDS),
        )

    async def _in_time(self, call: Call, work: Callable[[], Awaitable[Outgoing]]) -> Outgoing:
        with call.scope:
            return await work()
        if call.handing_over:
            raise DatabaseDown(
                "the outcome is unknown; repeat the request with the same key", outcome="unknown"
            )
        raise Overloaded("this took too long; nothing has changed")

    async def _perform(self, call: Call, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        incoming.check_declared_size(endpoint.body_bound(self.service.config))
        arguments: dict[str, object] = dict(await self._gate.pass_request(call, endpoint, incoming))
        if endpoint.query is not None:
            arguments["query"] = endpoint.query.decode(incoming.query)
        data = b""
        if endpoint.body is not None:
            data = await self._body(call, endpoint, incoming)
            arguments["body"] = await self._decoded(endpoint, data)
        key = incoming.header(b"idempotency-key") if endpoint.method in METHODS else None
        if key is None:
            return await self._render(call, endpoint, incoming, await endpoint.handler(call, **arguments))
        principal = call.principal
        call.attempt = attempt = self._idempotency.begin(
            key,
            scope=principal.key if principal is not None else call.client_address,
            line=f"{endpoint.method} {incoming.path}",
            body=data,
            secret=endpoint.secret_reply,
            now_ms=call.now_ms,
        )
        try:
            return await self._once(call, endpoint, incoming, arguments, attempt)
        finally:
            self._idempotency.end(attempt)

    async def _once(
        self,
        call: Call,
        endpoint: Endpoint,
        incoming: Incoming,
        arguments: dict[str, object],
        attempt: Attempt,
    ) -> Outgoing:
        replayed = await self._replay(call, attempt)
        if replayed is not None:
            return replayed
        try:
            result = await endpoint.handler(call, **arguments)
        except RowsRejected:
            # An earlier request under this key, whose outcome its caller never learned, or one on another
            # node, committed its receipt first: then that is the answer.
            replayed = await self._replay(call, attempt)
            if replayed is None:
                raise
            return replayed
        return await self._render(call, endpoint, incoming, result)

    async def _replay(self, call: Call, attempt: Attempt) -> Outgoing | None:
        kept = await self.service.database.read(receipts.find, attempt.key, call.now_ms)
        if kept is None:
            return None
        status, body = attempt.replay(kept)
        headers: Headers = [(b"idempotent-replayed", b"true")]
        return Outgoing(status, [_JSON_HEADER, *headers] if body else headers, body)

    async def _body(self, call: Call, endpoint: Endpoint, incoming: Incoming) -> bytes:
        encoding = incoming.header(b"content-encoding")
        if encoding is not None and encoding.strip().lower() != b"identity":
            raise UnsupportedMedia("the body must not be compressed")
        media = incoming.header(b"content-type")
        if media is not None:
            _check_media(media, endpoint.media)
        call.scope.deadline = trio.current_time() + BODY_SECONDS
        data = await incoming.body(endpoint.body_bound(self.service.config))
        call.scope.deadline = trio.current_time() + REQUEST_SECONDS
        if media is None and data:
            raise UnsupportedMedia(_taken(endpoint.media))
        return data

    async def _decoded(self, endpoint: Endpoint, data: bytes) -> object:
        if not data:
            if endpoint.body_optional:
                return None
            raise MalformedJson("a body is required")
        decoder = endpoint.decoder
        if decoder is None:
            return data
        if len(data) > OFFLOAD_BYTES:
            return await trio.to_thread.run_sync(decode, data, decoder)
        return decode(data, decoder)

    async def _render(self, call: Call, endpoint: Endpoint, incoming: Incoming, result: object) -> Outgoing:
        status, headers = call.status, []
        if isinstance(result, Reply):
            status = result.status or status
            headers = [
                (name.encode("ascii"), text.encode("latin-1")) for name, text in result.headers.items()
            ]
            result = result.value
        if result is None:
            return Outgoing(204, headers)
        if isinstance(result, Blob):
            content = result.content
            size = len(content) if isinstance(content, bytes) else (await trio.Path(content).stat()).st_size
            outgoing = blob_response(result, incoming, size)
            outgoing.headers.extend(headers)
            return outgoing
        if isinstance(result, Page):
            headers += _page_headers(result)
            outgoing = Outgoing(status, headers, result.html)
        else:
            outgoing = Outgoing(status, [_JSON_HEADER, *headers], encode(result))
        return outgoing if endpoint.cacheable is None else with_etag(outgoing, incoming, endpoint.cacheable)

    def _common(self, call: Call, incoming: Incoming) -> Headers:
        headers = [
            (b"x-request-id", call.request_id.encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
        ]
        if call.decision is not None:
            headers.extend(call.decision.fields())
        headers.extend(self._cors.headers(incoming.header(b"origin")))
        return headers

    def _finished(self, call: Call, incoming: Incoming, outgoing: Outgoing) -> Outgoing:
        headers = outgoing.headers
        if outgoing.status not in {204, 304}:
            headers.append((b"content-length", b"%d" % outgoing.length_bytes))
        if outgoing.header(b"cache-control") is None:
            headers.append((b"cache-control", b"no-store"))
        headers.extend(self._common(call, incoming))
        if incoming.method == "HEAD":
            outgoing.body = b""
        return outgoing


def _page_headers(page: Page) -> Headers:
    return [
        (b"content-type", page.content_type.encode("ascii")),
        (b"content-security-policy", page.policy.encode("ascii")),
        (b"referrer-policy", b"no-referrer"),
        (b"x-frame-options", b"DENY"),
    ]


def _check_media(media: bytes, taken: tuple[str, ...]) -> None:
    kind, _, rest = media.decode("latin-1").lower().partition(";")
    kind = kind.strip()
    if not any(kind == known or (known.endswith("/*") and kind.startswith(known[:-1])) for known in taken):
        raise UnsupportedMedia(_taken(taken))
    charset = rest.strip().removeprefix("charset=").strip('"') if "charset=" in rest else "utf-8"
    if kind == JSON_MEDIA and charset not in {"utf-8", "utf8"}:
        raise UnsupportedMedia("JSON is UTF-8")


def _taken(media: tuple[str, ...]) -> str:
    return f"the body must be {' or '.join(media)}"
