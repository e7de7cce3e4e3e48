"""A span for each request and each opened stream, in the trace of the client (W3C Trace Context)."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeVar

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from routes.edge.deadline import Deadline
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Stream
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.dispatch import Edge
from routes.edge.pipeline.opening import Opening
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.passing import FarClient, Passed

Answer = TypeVar("Answer", bound=Outgoing | Opening)


class _Headers(Getter[Incoming]):
    """Reads headers for the propagator."""

    def get(self, carrier: Incoming, key: str) -> list[str] | None:
        """The values of a header; None if it is missing."""
        value = carrier.header(key.lower().encode("ascii"))
        return None if value is None else [value.decode("latin-1")]

    def keys(self, carrier: Incoming) -> list[str]:
        """The names of all headers."""
        return [name.decode("latin-1") for name, _ in carrier.headers]


_HEADERS = _Headers()
_TRACE_CONTEXT = TraceContextTextMapPropagator()


class TracedEdge:
    """An `Edge` that makes a span of each request; implements `Dispatcher`.

    Addresses and queries are not in spans, since they name users and carry tokens.

    Args:
        service, table: as for `Edge`.
        tracer: makes the spans.
    """

    def __init__(self, service: Parts, table: RouteTable, *, tracer: Tracer) -> None:
        self.service = service
        self.table = table
        self._edge = edge = Edge(service, table)
        self._tracer = tracer
        # What is answered at once gets no span.
        self.refuse, self.tab, self.preflight = edge.refuse, edge.tab, edge.preflight

    async def answer(self, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """As in `Edge`, within a span."""
        return await self._traced(partial(self._edge.answer, endpoint, incoming), endpoint.line, incoming)

    async def answer_passed(self, request: Passed, deadline: Deadline, client: FarClient) -> Outgoing:
        """As in `Edge`; the span's parent is that of the node that has passed the request on."""
        return await self._traced(
            partial(self._edge.answer_passed, request, deadline, client),
            request.line,
            request.incoming(client),
        )

    async def open(self, stream: Stream, incoming: Incoming) -> Outgoing | Opening:
        """As in `Edge`; the span ends once the stream is open."""
        return await self._traced(partial(self._edge.open, stream, incoming), stream.line, incoming)

    async def _traced(self, ask: Callable[[], Awaitable[Answer]], line: str, incoming: Incoming) -> Answer:
        method, _, path = line.partition(" ")
        caller: Context = _TRACE_CONTEXT.extract(incoming, Context(), _HEADERS)
        attributes: dict[str, Any] = {"http.request.method": incoming.method or method, "http.route": path}
        span = self._tracer.start_span(line, caller, SpanKind.SERVER, attributes)
        own = set_span_in_context(span, caller)
        if self.service.others is not None:
            incoming.headers = _below(own, incoming.headers)
        token = contexts.attach(own)
        try:
            answer = await ask()
            status = answer.status if isinstance(answer, Outgoing) else 101
            span.set_attribute("http.response.status_code", status)
            request_id = _request_id(answer)
            if request_id is not None:
                span.set_attribute("partyline.request.id", request_id)
            if status >= 500:
                span.set_status(Status(StatusCode.ERROR))
            return answer
        finally:
            contexts.detach(token)
            span.end()


def _below(own: Context, headers: Headers) -> Headers:
    """The headers with which a request goes on to another node: the client's, but the trace goes on from our span."""
    carried: dict[str, str] = {}
    _TRACE_CONTEXT.inject(carried, own)
    others = [header for header in headers if header[0].decode("latin-1") not in carried]
    return [*others, *((name.encode("ascii"), text.encode("ascii")) for name, text in carried.items())]


def _request_id(answer: Outgoing | Opening) -> str | None:
    for name, value in answer.headers:
        if name == b"x-request-id":
            return value.decode("ascii")
    return None
