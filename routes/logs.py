"""How the log is written: to stderr, for people or as JSON lines, from a level on (contract §11).

stdout belongs to what a command was asked for. Values are written as data, never into the text: a line break
in a name cannot make a line of its own (ASVS 16.4.1). Tracebacks are without the values of variables: those
hold messages and tokens.
"""

import logging
import sys

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from routes.edge.config.table import Config


def configure_logging(config: Config, *, least: str | None = None) -> None:
    """Set the process's log up; the last call counts.

    Args:
        config: says form and level.
        least: a level that is used instead of the configured one: `debug`, `info`, `warning` or `error`.
    """
    level = logging.getLevelNamesMapping()[(least or config.log_level).upper()]
    last: list[Processor]
    if config.log == "json":
        frames = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        last = [structlog.processors.ExceptionRenderer(frames), structlog.processors.JSONRenderer()]
    else:
        plain = structlog.dev.plain_traceback
        last = [
            _printable,
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain),
        ]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )


def _printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Text from outside with everything escaped that a terminal would obey; JSON escapes it by itself."""
    return {
        key: ascii(value) if isinstance(value, str) and not value.isprintable() else value
        for key, value in event.items()
    }
