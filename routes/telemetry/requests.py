"""A span for each request and each opened stream, in the trace of whoever asks (W3C Trace Context)."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.propagators.textmap import Getter
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from routes.edge.declare.endpoint import Endpoint, Stream
from routes.edge.declare.mounts import RouteTable
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.dispatch import Edge, Opening
from routes.edge.pipeline.parts import Parts

T = TypeVar("T", bound=Endpoint | Stream)
Answer = TypeVar("Answer", bound=Outgoing | Opening)


class _Headers(Getter[Incoming]):
    """Reads what the propagator asks for."""

    def get(self, carrier: Incoming, key: str) -> list[str] | None:
        """The values of a header; None where it is missing."""
        value = carrier.header(key.lower().encode("ascii"))
        return None if value is None else [value.decode("latin-1")]

    def keys(self, carrier: Incoming) -> list[str]:
        """The names of all headers."""
        return [name.decode("latin-1") for name, _ in carrier.headers]


_HEADERS = _Headers()
_TRACE_CONTEXT = TraceContextTextMapPropagator()


class TracedEdge(Edge):
    """An edge whose requests are spans; addresses and queries are not in them, since they name users and carry tokens.

    Args:
        service, table: as of `Edge`.
        tracer: makes the spans.
    """

    def __init__(self, service: Parts, table: RouteTable, *, tracer: Tracer) -> None:
        super().__init__(service, table)
        self._tracer = tracer

    async def answer(self, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """As of `Edge`."""
        return await self._traced(super().answer, endpoint, incoming)

    async def open(self, stream: Stream, incoming: Incoming) -> Outgoing | Opening:
        """As of `Edge`; the span ends once the stream is open."""
        return await self._traced(super().open, stream, incoming)

    async def _traced(
        self, ask: Callable[[T, Incoming], Awaitable[Answer]], route: T, incoming: Incoming
    ) -> Answer:
        method, _, path = route.line.partition(" ")
        caller: Context = _TRACE_CONTEXT.extract(incoming, Context(), _HEADERS)
        attributes: dict[str, Any] = {"http.request.method": incoming.method or method, "http.route": path}
        span = self._tracer.start_span(route.line, caller, SpanKind.SERVER, attributes)
        token = contexts.attach(set_span_in_context(span, caller))
        try:
            answer = await ask(route, incoming)
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


def _request_id(answer: Outgoing | Opening) -> str | None:
    for name, value in answer.headers:
        if name == b"x-request-id":
            return value.decode("ascii")
    return None
