"""`partyline catalog import FILE`: imports catalogs of heads and banners, and games, as JSON lines (contract §10).

A catalog in which a line is refused stays as it was. Importing a file again does no harm. A running server shows what
was imported at once, and counts new games within a minute.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from actors.catalogs.importing import Imported, import_catalogs
from persistence.bridge.database import Database
from routes.cli.files import opened


async def import_file(path: Path, database: Database, say: Callable[[str], None]) -> bool:
    """Import a file; returns whether all of its catalogs were imported.

    Args:
        path: a file of JSON lines in the form of `actors.catalogs.lines`; `-` for standard input.
        database: open and migrated.
        say: takes each line of the report: refused lines with their reasons, and what came of each catalog.

    Raises:
        CommandFault: the file cannot be opened.
        DatabaseUnavailable: the import stopped; the catalogs reported by then are stored.
    """
    whole = True

    def report(imported: Imported) -> None:
        nonlocal whole
        for number, reason in imported.refused:
            say(f"line {number}: {reason}")
        if imported.items is None:
            whole = False
        if imported.slug is not None:
            say(f"{imported.slug}: {_outcome(imported)}")

    with opened(path) as file:
        await import_catalogs(
            database, file, report, partial(trio.to_thread.run_sync, abandon_on_cancel=True)
        )
    return whole


def _outcome(imported: Imported) -> str:
    return "not imported" if imported.items is None else f"{imported.items} items"
