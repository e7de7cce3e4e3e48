"""What a command prints: lines on standard output."""

import sys


def say(line: str) -> None:
    """Print one line."""
    sys.stdout.write(f"{line}\n")
