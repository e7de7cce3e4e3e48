"""What a server prints when it starts: its address and the setup link, on standard output."""

import sys

import structlog

log = structlog.get_logger()


def announce(line: str) -> None:
    """Print one line on standard output; if that fails, the failure is logged without the line, and the server goes on.

    Args:
        line: the line, which may hold a secret.
    """
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except OSError as fault:
        log.warning(
            "standard output cannot be written: the address or the setup link is missing there",
            why=str(fault),
        )
