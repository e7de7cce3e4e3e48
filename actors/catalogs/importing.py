"""Import catalogs from lines: each in one transaction, which replaces the catalog of this name, if there is one.

A catalog is imported as a whole or not at all: an item whose line was refused would else be gone until the next import.
Games are added to those that there are, all of a file in one transaction.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from io import BufferedIOBase

import msgspec

from actors.catalogs.indexing import index_of
from actors.catalogs.lines import LINE_MAX_BYTES, BadLine, ItemLine, item_of, read_line
from actors.games.catalog import GAMES_MAX, add_games
from actors.in_thread import InThread
from persistence.bridge.database import Database
from persistence.catalogs import items, runs
from persistence.catalogs.items import Catalog, Item
from persistence.connection import Connection
from persistence.games.games import GameRow

ITEMS_MAX = 100_000
"""Most items of one catalog."""

CATALOGS_MAX = 50
"""Most catalogs: a search asks each of its kind."""

REFUSED_MAX = 100
"""Most refused lines of a catalog that are reported."""

IMPORT_SECONDS = 600.0
"""How long the transaction of one catalog may take."""


class Imported(msgspec.Struct, frozen=True):
    """The result for one catalog of a file, or for its games.

    Args:
        slug: the slug of the catalog, or `GAMES`; None for lines in front of the first catalog.
        items: how many items the catalog has now, or how many games were added; None if nothing was imported.
        refused: (line number from 1, reason) of refused lines, at most `REFUSED_MAX`.
    """

    slug: str | None
    items: int | None
    refused: tuple[tuple[int, str], ...] = ()


GAMES = "games"
"""The slug under which the games of a file are reported."""


class _Games:
    """The games of a file."""

    def __init__(self) -> None:
        self.rows: dict[str, GameRow] = {}
        self.at = 0

    def take(self, row: GameRow, number: int) -> None:
        if row.game_id in self.rows:
            raise BadLine("gameId: another game of the file has it")
        if len(self.rows) >= GAMES_MAX:
            raise BadLine(_TOO_MANY_GAMES)
        self.rows[row.game_id] = row
        self.at = self.at or number


class _Gathered:
    """The lines of one catalog.

    Args:
        catalog: the catalog; None for lines in front of the first one.
        at: the number of the catalog's line.
    """

    def __init__(self, catalog: Catalog | None, at: int) -> None:
        self.catalog = catalog
        self.at = at
        self.items: dict[str, Item] = {}
        self.refused: list[tuple[int, str]] = []

    def refuse(self, number: int, reason: str) -> None:
        if len(self.refused) < REFUSED_MAX:
            self.refused.append((number, reason))

    def take(self, line: ItemLine) -> None:
        if self.catalog is None:
            raise BadLine("the first line is a catalog")
        item = item_of(line, self.catalog)
        if item.id in self.items:
            raise BadLine("name: another item of the catalog has it")
        if len(self.items) >= ITEMS_MAX:
            raise BadLine(f"a catalog has at most {ITEMS_MAX} items")
        self.items[item.id] = item


async def import_catalogs(
    database: Database, file: BufferedIOBase, report: Callable[[Imported], None], in_thread: InThread
) -> None:
    """Import all catalogs of a file.

    Args:
        database: open and migrated.
        file: lines in the form of `lines.py`; blank ones are skipped.
        report: called after each catalog.
        in_thread: runs functions in a worker thread, where the file is read and indexes are made.

    Raises:
        DatabaseUnavailable: the import stopped; what was reported is stored.

    Cancellation: what was reported is stored; the import may be repeated.
    """
    games = _Games()
    catalogs = _catalogs(file, games)
    while (gathered := await in_thread(partial(next, catalogs, None))) is not None:
        slug = None if gathered.catalog is None else gathered.catalog.slug
        if gathered.catalog is None or gathered.refused:
            report(Imported(slug, None, tuple(gathered.refused)))
            continue
        ordered = sorted(gathered.items.values(), key=lambda item: (item.name.lower(), item.name))
        catalog = msgspec.structs.replace(gathered.catalog, items=len(ordered))
        words = [words_of(item) for item in ordered]
        index = await in_thread(partial(index_of, words))
        stored = await database.transact(
            _store, catalog, ordered, words, index, timeout_seconds=IMPORT_SECONDS
        )
        outcome = (
            Imported(slug, len(ordered)) if stored else Imported(slug, None, ((gathered.at, _TOO_MANY),))
        )
        report(outcome)
    if games.rows:
        added = await database.transact(add_games, tuple(games.rows.values()))
        refused = () if added else ((games.at, _TOO_MANY_GAMES),)
        report(Imported(GAMES, len(games.rows) if added else None, refused))


def words_of(item: Item) -> str:
    """What a search looks through: name and tags, in lower case."""
    return runs.BETWEEN.join((item.name, *item.tags)).lower()


_TOO_MANY = f"there are {CATALOGS_MAX} catalogs already"
_TOO_MANY_GAMES = f"there are at most {GAMES_MAX} games"


def _catalogs(file: BufferedIOBase, games: _Games) -> Iterator[_Gathered]:
    """Yield the catalogs of a file, one at a time in memory, and gather its games."""
    gathered = _Gathered(None, 0)
    for number, text in enumerate(_lines(file), 1):
        if not text.strip():
            continue
        try:
            line = read_line(text)
            if isinstance(line, Catalog):
                if gathered.catalog is not None or gathered.refused:
                    yield gathered
                gathered = _Gathered(line, number)
            elif isinstance(line, GameRow):
                games.take(line, number)
            else:
                gathered.take(line)
        except BadLine as bad:
            gathered.refuse(number, str(bad))
    if gathered.catalog is not None or gathered.refused:
        yield gathered


def _lines(file: BufferedIOBase) -> Iterator[bytes]:
    """Yield the lines of a file, of one that is too long only the beginning."""
    while text := file.readline(LINE_MAX_BYTES + 2):
        rest = text
        while not rest.endswith(b"\n") and (rest := file.readline(LINE_MAX_BYTES)):
            pass
        yield text


async def _store(
    conn: Connection,
    catalog: Catalog,
    ordered: Sequence[Item],
    words: Sequence[str],
    index: runs.Index,
) -> bool:
    await items.lock_catalogs(conn)
    others = [one for one in await items.list_catalogs(conn) if one.slug != catalog.slug]
    if len(others) >= CATALOGS_MAX:
        return False
    await items.replace_catalog(conn, catalog)
    for start in range(0, len(ordered), runs.ROWS_AT_ONCE):
        stop = min(start + runs.ROWS_AT_ONCE, len(ordered))
        await items.add_items(conn, [(n, ordered[n], words[n]) for n in range(start, stop)])
    await runs.add_index(conn, catalog.slug, index)
    return True
