"""What is kept about a user, as they may take it with them (GDPR article 20). Each domain says which rows those are.

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
        table: its name.
        where: SQL that selects them, with the user's id as `$1`.
        leaves: columns that are left out: secrets, and what serves the service alone.
        files: columns of bytes that are files of their own.
        blob: the column with the SHA-256 of a file in `blobs`.
        key: the column that names those files.
        owner: the column with the one user who sees all of a row; None where whoever has it does.
        owners: columns that are null for everybody else.
        made: the column that says when a row was made, or what else does, in epoch milliseconds, of rows that outlive
            their user: those of before an erasure are not of who came back under the same id. None where rows go with
            the user.
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
    """Takes what is exported; called in the database's thread, in this order. A file comes between no two rows."""

    def begin(self, table: str) -> None:
        """The rows of a table follow."""
        ...

    def row(self, row: Mapping[str, Any]) -> None:
        """A row: {column: value}, with bytes that are JSON as that."""
        ...

    def end(self) -> None:
        """That was the last row of the table."""
        ...

    def file(self, table: str, name: str, data: bytes) -> None:
        """A file of a table.

        Args:
            table: its name.
            name: of the file, unique in the table; not a path.
            data: its bytes.
        """
        ...

    def blob(self, table: str, name: str, digest: bytes) -> None:
        """A file of a table that lies in `blobs`.

        Args:
            table, name: as for `file`.
            digest: the SHA-256 of its bytes.
        """
        ...


async def export(conn: Connection, user_id: str, tables: Sequence[Exported], receiver: Receiver) -> bool:
    """Pass everything about a user on; returns whether there is such a user. A unit of work.

    Args:
        user_id: whose.
        tables: of all domains.
        receiver: takes it.
    """
    await conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    if await conn.fetchval("SELECT 1 FROM users WHERE id = $1", user_id) is None:
        return False
    for table in tables:
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
        for column in (*table.files, *(() if table.blob is None else (table.blob,))):
            take: Callable[[str, str, bytes], None] = receiver.blob if column == table.blob else receiver.file
            columns = f"{table.key}, {column}"
            async for row in conn.cursor(_select(columns, table), user_id, prefetch=1):
                if row[1] is not None:
                    take(table.table, f"{row[0]}-{column}" if table.files else str(row[0]), row[1])
    return True


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
