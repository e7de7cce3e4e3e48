"""The log of tests: structlog's own, with tracebacks as the program writes them."""

import structlog


def log_plainly() -> None:
    """Log as structlog does by itself, but without the values of variables in tracebacks, which take a second each."""
    structlog.reset_defaults()
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], plain])
