"""A span for each turn of an actor, whose parent is the first request that it decides; other requests are linked."""

from collections.abc import Sequence

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    Status,
    StatusCode,
    Tracer,
    get_current_span,
    set_span_in_context,
)


class TurnTracer:
    """Makes spans of turns; implements `actors.kernel.observer.Observer`.

    Args:
        tracer: makes the spans.
    """

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer

    def cause(self) -> SpanContext | None:
        """The span of the request in whose task this is called; None if there is none."""
        found = get_current_span().get_span_context()
        return found if found.is_valid else None

    def begin(self, kind: str, id: str, *, letters: int, causes: Sequence[object]) -> "TracedTurn":
        """Begin the span of a turn; without causes, it begins a new trace.

        Args:
            kind, id: the kind and id of the owner.
            letters: how many letters the turn decides together.
            causes: the spans of requests from which some of these letters come.
        """
        spans = [cause for cause in causes if isinstance(cause, SpanContext)]
        above = set_span_in_context(NonRecordingSpan(spans[0]), Context()) if spans else Context()
        attributes: dict[str, str | int] = {
            "partyline.actor.kind": kind,
            "partyline.actor.id": id,
            "partyline.turn.letters": letters,
        }
        links = [Link(one) for one in spans[1:]]
        span = self._tracer.start_span(f"turn {kind}", above, attributes=attributes, links=links)
        return TracedTurn(self._tracer, span)


class TracedTurn:
    """One turn; implements `actors.kernel.observer.ObservedTurn`.

    Args:
        tracer: makes the spans within the turn.
        span: the span of the turn.
    """

    __slots__ = ("_below", "_span", "_tracer")

    def __init__(self, tracer: Tracer, span: Span) -> None:
        self._tracer, self._span = tracer, span
        self._below: Span | None = None

    def committing(self) -> None:
        """Begin the span of the commit: the wait for the writer, and its transaction."""
        self._begin("group commit")

    def committed(self, failure: Exception | None) -> None:
        """End the span of the commit; a failure marks it, and the turn's.

        Args:
            failure: why nothing was committed, or the outcome is unknown; None when it was committed.
        """
        if failure is not None:
            for span in (self._below, self._span):
                if span is not None:
                    span.set_status(Status(StatusCode.ERROR, type(failure).__name__))
        self._end()

    def publishing(self, events: int, subscribers: int) -> None:
        """Begin the span of the fan-out.

        Args:
            events: how many events have happened.
            subscribers: how many subscribers the owner's channel has.
        """
        self._end()
        self._begin("fan-out")
        if self._below is not None:
            self._below.set_attribute("partyline.turn.events", events)
            self._below.set_attribute("partyline.turn.subscribers", subscribers)

    def published(self) -> None:
        """End the span of the fan-out."""
        self._end()

    def end(self) -> None:
        """End the span of the turn."""
        self._end()
        self._span.end()

    def _begin(self, name: str) -> None:
        if self._span.is_recording():
            self._below = self._tracer.start_span(name, set_span_in_context(self._span, Context()))

    def _end(self) -> None:
        below, self._below = self._below, None
        if below is not None:
            below.end()
