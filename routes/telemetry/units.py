"""A span for each unit of work on the database that a request waits for."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, TypeVarTuple

from opentelemetry.trace import SpanKind, Tracer, get_current_span

from persistence.bridge.database import Database
from persistence.connection import Unit

Result = TypeVar("Result")
Args = TypeVarTuple("Args")


class TracedDatabase(Database):
    """A database whose units of work are spans within those of requests; outside of a traced request there are none.

    Args:
        arguments: positional arguments of `Database`.
        tracer: makes the spans.
        options: keyword arguments of `Database`.
    """

    def __init__(self, *arguments: Any, tracer: Tracer, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._tracer = tracer

    async def read(
        self, unit: Unit[*Args, Result], /, *args: *Args, timeout_seconds: float | None = None
    ) -> Result:
        """As in `Database`, within a span."""
        if not get_current_span().is_recording():
            return await super().read(unit, *args, timeout_seconds=timeout_seconds)
        with self._span("read", unit):
            return await super().read(unit, *args, timeout_seconds=timeout_seconds)

    async def transact(
        self, unit: Unit[*Args, Result], /, *args: *Args, timeout_seconds: float | None = None
    ) -> Result:
        """As in `Database`, within a span."""
        if not get_current_span().is_recording():
            return await super().transact(unit, *args, timeout_seconds=timeout_seconds)
        with self._span("transact", unit):
            return await super().transact(unit, *args, timeout_seconds=timeout_seconds)

    def _span(self, what: str, unit: Callable[..., Any]) -> Any:
        while isinstance(unit, partial):
            unit = unit.func
        name = getattr(unit, "__name__", "a unit")
        return self._tracer.start_as_current_span(
            f"{what} {name}",
            kind=SpanKind.CLIENT,
            attributes={"db.system.name": "postgresql"},
            record_exception=False,
        )
