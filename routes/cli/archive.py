"""`partyline archive import FILE`: chat history from elsewhere, as JSON lines (contract §4).

Lines that cannot be taken in are told one by one and left out; all others are kept. Importing a file again
does no harm. Live conversations of a running server hear of it at each commit.
"""

import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from pathlib import Path

from actors.chat.archive import ImportReport, import_archive
from actors.ids import new_object_id
from actors.kernel.clock import Clock
from persistence.bridge.database import Database
from routes.cli.faults import CommandFault

STANDARD_INPUT = Path("-")


async def import_file(path: Path, database: Database, clock: Clock) -> ImportReport:
    """Import a file; progress is shown on stderr.

    Args:
        path: JSON lines as `actors.chat.archive.ArchiveLine` says; `-` for standard input.
        database: migrated.
        clock: for ids, and to refuse messages of the last minute.

    Raises:
        CommandFault: the file cannot be read.
        DatabaseUnavailable: what was reported by then is kept.
    """
    now_ms = clock.now_ms()
    with _opened(path) as file:
        return await import_archive(
            database,
            file,
            now_ms=now_ms,
            new_id=lambda: new_object_id(now_ms, secrets.token_bytes),
            report=_progress,
        )


def said(report: ImportReport) -> Iterator[str]:
    """The report as lines: each refused line with its reason, then the counts."""
    for number, reason in report.refused:
        yield f"line {number}: {reason}"
    yield f"{report.imported} imported, {report.present} there already, {len(report.refused)} refused"


def _progress(report: ImportReport) -> None:
    sys.stderr.write(f"\r{report.imported + report.present} messages")
    sys.stderr.flush()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedIOBase]:
    if path == STANDARD_INPUT:
        yield sys.stdin.buffer  # type: ignore[misc]  # a BufferedReader in every process that has one
        return
    try:
        file = path.open("rb")
    except OSError as fault:
        raise CommandFault(f"{path}: {fault.strerror}") from fault
    with file:
        yield file
