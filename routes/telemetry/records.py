"""Sends lines of the log as OpenTelemetry records, each with the trace in which it was written."""

import sys
import time
import traceback
from typing import Any

from opentelemetry._logs import Logger, LogRecord, SeverityNumber
from opentelemetry.trace import get_current_span
from structlog.typing import EventDict, WrappedLogger

FAILED = "telemetry_failed"
"""The event that is logged when something cannot be sent; it is not sent itself."""

_SEVERITIES = {
    "debug": SeverityNumber.DEBUG,
    "info": SeverityNumber.INFO,
    "warning": SeverityNumber.WARN,
    "error": SeverityNumber.ERROR,
    "exception": SeverityNumber.ERROR,
    "critical": SeverityNumber.FATAL,
}


class Sender:
    """A processor of structlog that sends each line, and adds the trace to the line that is printed.

    Args:
        logger: OpenTelemetry's logger, which sends records.
    """

    def __init__(self, logger: Logger) -> None:
        self._logger = logger

    def __call__(self, _logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
        """Send a line; returns it, with its trace, for the next processor."""
        span = get_current_span().get_span_context()
        if span.is_valid:
            event["trace_id"] = f"{span.trace_id:032x}"
            event["span_id"] = f"{span.span_id:016x}"
        if event.get("event") != FAILED:
            now_ns = time.time_ns()
            self._logger.emit(
                LogRecord(
                    timestamp=now_ns,
                    observed_timestamp=now_ns,
                    severity_text=method,
                    severity_number=_SEVERITIES.get(method, SeverityNumber.INFO),
                    body=str(event.get("event", "")),
                    attributes=_attributes(event),
                )
            )
        return event


def _attributes(event: EventDict) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in event.items():
        if name == "exc_info":
            found |= _exception(value)
        elif name not in ("event", "trace_id", "span_id"):
            found[name] = value if isinstance(value, str | int | float | bool) else str(value)
    return found


def _exception(value: Any) -> dict[str, str]:
    """The attributes of an exception: its stack is included, the values of variables are not."""
    error = value if isinstance(value, BaseException) else sys.exc_info()[1]
    if error is None:
        return {}
    stack = "".join(traceback.format_exception(error))
    return {"exception.type": type(error).__name__, "exception.stacktrace": stack}
