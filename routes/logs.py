"""Configuration of the log: to stderr, as text or JSON lines, from a level up (contract §11).

stdout is for the output of commands. Values are logged as fields, never within the text, so that a line break in a name
cannot forge a line (ASVS 16.4.1). Tracebacks omit the values of variables, which hold messages and tokens.
"""

import contextlib
import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from routes.config.config import Config


def configure_logging(config: Config, *, least: str | None = None) -> None:
    """Configure the process's log; a later call replaces an earlier one.

    Args:
        config: gives the format and the level.
        least: a level to use instead of the configured one: `debug`, `info`, `warning` or `error`; None for that one.
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
        logger_factory=structlog.WriteLoggerFactory(
            file=_Outlet(sys.stderr)  # type: ignore[arg-type]  # it is written to and flushed, and no more
        ),
        cache_logger_on_first_use=False,
    )


class _Outlet:
    """The stream that the log is written to, which may be a file on a full disk, or a pipe that is not read any more.

    A line that cannot be written is lost, and nothing else happens: what logs it, a request or the task that starts
    PostgreSQL again, must not fail by that. The newest kilobytes are written once there is room again.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            self._stream.flush()


def name_lines(node: str) -> None:
    """Add the node's name as the field `on` to each log line of this task and of the tasks that it starts.

    Args:
        node: the node's name.
    """
    structlog.contextvars.bind_contextvars(on=node)


def _printable(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Escape control characters in values, which a terminal would obey; JSON escapes them itself."""
    return {
        key: ascii(value) if isinstance(value, str) and not value.isprintable() else value
        for key, value in event.items()
    }
