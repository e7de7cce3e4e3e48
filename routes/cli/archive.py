"""`partyline archive import FILE`: imports chat history of another system, as JSON lines (contract §4).

Lines that cannot be imported are reported one by one and skipped; all others are stored. Importing a file again does no
harm. Live conversations of a running server are notified at each commit.
"""

import secrets
import sys
from collections.abc import Iterator
from pathlib import Path

from actors.chat.archive import ImportReport, import_archive
from actors.ids import new_object_id
from actors.kernel.clock import Clock
from persistence.bridge.database import Database
from routes.cli.files import opened


async def import_file(path: Path, database: Database, clock: Clock) -> ImportReport:
    """Import a file; progress is shown on stderr.

    Args:
        path: a file of JSON lines in the form of `actors.chat.archive.ArchiveLine`; `-` for standard input.
        database: the open, migrated database.
        clock: gives the times of new ids, and tells which messages are of the last minute and refused.

    Raises:
        CommandFault: the file cannot be opened.
        DatabaseUnavailable: the import stopped; the messages reported by then are stored.
    """
    now_ms = clock.now_ms()
    with opened(path) as file:
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
