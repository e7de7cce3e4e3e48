"""`partyline catalog import FILE`: imports catalogs of heads and banners, and games, as JSON lines (contract §10);
`partyline catalog remove` removes a catalog or a game again.

A catalog in which a line is refused stays as it was. Importing a file again does no harm. A running server shows what
has changed at once, and counts the games that are there within a minute.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import trio

from actors.catalogs.importing import IMPORT_SECONDS, Imported, import_catalogs
from actors.catalogs.units_removal import remove_catalog, remove_game
from actors.errors import NotFound
from persistence.bridge.database import Database
from routes.cli.faults import CommandFault
from routes.cli.files import opened


async def import_file(path: Path, database: Database, say: Callable[[str], None]) -> bool:
    """Import a file; returns whether all of its catalogs were imported.

    Args:
        path: a file of JSON lines in the form of `actors.catalogs.lines`; `-` for standard input.
        database: the open, migrated database.
        say: takes each line of the report: refused lines with their reasons, and the result of each catalog.

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


async def remove(
    slug: str | None, game_id: str | None, database: Database, say: Callable[[str], None]
) -> None:
    """Remove a catalog, or a game.

    Args:
        slug: the catalog's slug; None to remove no catalog.
        game_id: the game's id; None to remove no game.
        database: the open, migrated database.
        say: takes each line of the report.

    Raises:
        CommandFault: there is no such catalog or game, and nothing was removed.
        DatabaseUnavailable: nothing was removed, or it is not known whether it was.
    """
    try:
        if slug is not None:
            await database.transact(remove_catalog, slug, timeout_seconds=IMPORT_SECONDS)
            say(f"{slug}: removed")
        if game_id is not None:
            await database.transact(remove_game, game_id)
            say(f"{game_id}: removed")
    except NotFound as missing:
        raise CommandFault(missing.message) from missing


def _outcome(imported: Imported) -> str:
    return "not imported" if imported.items is None else f"{imported.items} items"
