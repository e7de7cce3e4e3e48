"""The export of a user's data (GDPR article 20). The `exported.py` of each domain says which rows belong to it.

Everything is read in one transaction that sees one moment. Rows are passed on as they come, however many there are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from persistence.connection import Connection

BATCH_ROWS = 200


@dataclass(frozen=True, slots=True)
class Exported:
    """Rows of one table that belong to a user.

    Args:
        table: the table's name.
        where: SQL that selects them, with the user's id as `$1`.
        leaves: columns that are left out: secrets, and what serves the service alone.
        files: columns of bytes that are files of their own.
        blob: the column with the SHA-256 of a file in `blobs`.
        key: the column that names those files.
        owner: the column with the id of the one user who gets all columns; None where every user of the row gets them.
        owners: columns that are exported as null for users other than `owner`.
        made: the column with the time a row was made, or an expression for it, epoch milliseconds, in tables whose rows
            outlive an erasure: rows from before it do not belong to a user who came back under the same id. None where
            rows go with the user.
    """

    table: str
    where: str
    leaves: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    blob: str | None = None
    key: str = "id"
    owner: str | None = None
    owners: tuple[str, ...] = ()
    made: str | None = None


class Receiver(Protocol):
    """Takes an export. It is called in the database's thread: for each table `begin`, its rows, `end`, its files."""

    def begin(self, table: str) -> None:
        """Begin a table, whose rows follow."""
        ...

    def row(self, row: Mapping[str, Any]) -> None:
        """Take a row, {column: value}; values that are encoded JSON come decoded."""
        ...

    def end(self) -> None:
        """End the rows of the table."""
        ...

    def file(self, table: str, name: str, data: bytes) -> None:
        """Take a file that lies in a column of a table.

        Args:
            table: the table's name.
            name: the file's name, unique in the table; not a path.
            data: the file's content.
        """
        ...

    def blob(self, table: str, name: str, digest: bytes) -> None:
        """Take a file of a table whose content lies in the store of blobs.

        Args:
            table, name: the table's and the file's name, as for `file`.
            digest: the SHA-256 of the content.
        """
        ...


async def export(conn: Connection, user_id: str, tables: Sequence[Exported], receiver: Receiver) -> bool:
    """Pass all exported rows and files of a user to a receiver; returns whether there is such a user. A unit of work.

    Args:
        user_id: the user whose data is exported.
        tables: the tables of all domains, in the order of the export.
        receiver: takes the rows and files.
    """
    await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    if await conn.fetchval("SELECT 1 FROM users WHERE id = $1", user_id) is None:
        return False
    for table in tables:
        await _export_rows(conn, user_id, table, receiver)
        await _export_files(conn, user_id, table, receiver)
    return True


async def _export_rows(conn: Connection, user_id: str, table: Exported, receiver: Receiver) -> None:
    hidden = {*table.leaves, *table.files, table.blob}
    receiver.begin(table.table)
    async for row in conn.cursor(_select("*", table), user_id, prefetch=BATCH_ROWS):
        nulls = table.owners if table.owner is not None and row[table.owner] != user_id else ()
        receiver.row(
            {
                name: None if name in nulls else _plain(value)
                for name, value in row.items()
                if name not in hidden
            }
        )
    receiver.end()


async def _export_files(conn: Connection, user_id: str, table: Exported, receiver: Receiver) -> None:
    for column in (*table.files, *(() if table.blob is None else (table.blob,))):
        take: Callable[[str, str, bytes], None] = receiver.blob if column == table.blob else receiver.file
        # One at a time: each may have megabytes.
        async for row in conn.cursor(_select(f"{table.key}, {column}", table), user_id, prefetch=1):
            if row[1] is not None:
                take(table.table, f"{row[0]}-{column}" if table.files else str(row[0]), row[1])


def _select(columns: str, table: Exported) -> str:
    where = f"({table.where})" + ("" if table.made is None else _ANEW.format(table.made))
    return f"SELECT {columns} FROM {table.table} WHERE {where}"  # noqa: S608 - constants of ours


_ANEW = " AND {} > coalesce((SELECT erased_at_ms FROM erased_users WHERE user_id = $1), -1)"


def _plain(value: object) -> object:
    if not isinstance(value, bytes):
        return value
    try:
        return msgspec.json.decode(value)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return value
