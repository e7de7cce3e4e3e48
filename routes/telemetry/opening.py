"""The exporters of traces and logs: OTLP over HTTP, from threads of their own.

The SDK reads the standard variables by itself: OTEL_EXPORTER_OTLP_ENDPOINT and its like, OTEL_SERVICE_NAME,
OTEL_RESOURCE_ATTRIBUTES, OTEL_TRACES_SAMPLER, OTEL_BSP_…. What cannot be sent is dropped: queues have bounds, and
nobody waits for a collector.
"""

import logging
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import structlog
import trio
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

from routes.config.config import Config
from routes.edge.docs.version import VERSION
from routes.telemetry.records import FAILED, Sender
from routes.telemetry.requests import TracedEdge
from routes.telemetry.seams import Seams
from routes.telemetry.turns import TurnTracer
from routes.telemetry.units import TracedDatabase

NAME = "partyline"
FLUSH_SECONDS = 5.0
"""How long the end of the service waits for a collector."""

log = structlog.get_logger()


@asynccontextmanager
async def open_telemetry(config: Config) -> AsyncIterator[Seams]:
    """Send what the configuration wants while the block runs; at its end, up to five seconds go to what still waits.

    Args:
        config: its `otel` says whether traces, logs or both are sent.
    """
    made = {"service.name": os.environ.get("OTEL_SERVICE_NAME") or NAME, "service.version": VERSION}
    resource = Resource.create(made)
    ends: list[Callable[[], None]] = []
    seams = Seams()
    complaints = _Complaints(level=logging.WARNING)
    logging.getLogger("opentelemetry").addHandler(complaints)
    before = structlog.get_config()
    if config.otel in ("traces", "all"):
        traces = TracerProvider(resource=resource, shutdown_on_exit=False)
        traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        ends.append(traces.shutdown)
        tracer = traces.get_tracer(NAME, VERSION)
        seams = Seams(
            edge=partial(TracedEdge, tracer=tracer),
            database=partial(TracedDatabase, tracer=tracer),
            observer=TurnTracer(tracer),
        )
    if config.otel in ("logs", "all"):
        logs = LoggerProvider(resource=resource, shutdown_on_exit=False)
        logs.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
        ends.append(logs.shutdown)
        first, *others = before["processors"]
        structlog.configure(processors=[first, Sender(logs.get_logger(NAME, VERSION)), *others])
    try:
        yield seams
    finally:
        structlog.configure(**before)
        with trio.CancelScope(shield=True), trio.move_on_after(FLUSH_SECONDS):
            for end in ends:
                await trio.to_thread.run_sync(end, abandon_on_cancel=True)
        logging.getLogger("opentelemetry").removeHandler(complaints)


class _Complaints(logging.Handler):
    """Passes the SDK's complaints, such as about a collector that is away, on to the service's log."""

    def emit(self, record: logging.LogRecord) -> None:
        log.warning(FAILED, why=record.getMessage())
