"""What a server prints when it starts: its address and the setup link, on standard output."""

import sys

import structlog

log = structlog.get_logger()


def announce(line: str) -> None:
    """Print one line; where it cannot be written, the log says so, without it, and the server serves all the same.

    Args:
        line: may hold a secret.
    """
    try:
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
    except OSError as fault:
        log.warning(
            "standard output cannot be written: the address or the setup link is missing there",
            why=str(fault),
        )
