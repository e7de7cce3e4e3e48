"""Every column of the database that may say who somebody is has a reason to be there, or goes with them.

The schema settles most: a row that refers to a user goes with them (`ON DELETE CASCADE`), or forgets them (`SET NULL`).
What it does not settle is declared in `tests/users/kept.py`, by table and by column, so that a table or a column that
somebody adds and forgets fails here, before anybody is erased.
"""

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.users.kept import COLUMNS, TABLES

PERSON = (
    "user|owner|author|actor|sender|recipient|uploader|creator|moderator|maker|founder|editor|inviter|invitee|reporter|"
    "reviewer|target|payer|buyer|holder|viewer|voter|friend|member|player|leader|admin|person|account|low|high|subject|"
    "participant"
)
SAYS_WHO = re.compile(rf"(.*_)?({PERSON})s?(_(id|ids|key|uuid|uuids))?|.*_by|(.*_)?names?(_lower|_key)?")
"""What a column is called that holds who somebody is: their id, in whichever part, or a name."""


class Reference(NamedTuple):
    """A foreign key: what becomes of its row when the row that it refers to goes, as `pg_constraint` says it."""

    table: str
    column: str
    refers_to: str
    on_delete: str


async def references(conn: Connection) -> list[Reference]:
    """All foreign keys, a row for each of their columns."""
    rows = await conn.fetch(
        "SELECT conrelid::regclass::text AS name, attname, confrelid::regclass::text AS refers_to,"
        " confdeltype::text AS on_delete FROM pg_constraint"
        " JOIN pg_attribute ON attrelid = conrelid AND attnum = ANY(conkey) WHERE contype = 'f'"
    )
    return [Reference(row["name"], row["attname"], row["refers_to"], row["on_delete"]) for row in rows]


async def columns(conn: Connection) -> list[tuple[str, str]]:
    """(table, column) of everything that can hold an id or a name: whatever is no number, moment or truth value."""
    rows = await conn.fetch(
        "SELECT attrelid::regclass::text AS name, attname FROM pg_attribute"
        " JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace"
        " JOIN pg_type ON pg_type.oid = atttypid LEFT JOIN pg_type AS item ON item.oid = pg_type.typelem"
        " WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped"
        " AND nspname NOT IN ('pg_catalog', 'information_schema')"
        " AND CASE WHEN pg_type.typcategory = 'A' THEN item.typcategory ELSE pg_type.typcategory END"
        " NOT IN ('N', 'D', 'B', 'R')"
    )
    return [(row["name"], row["attname"]) for row in rows]


async def tables(conn: Connection) -> set[str]:
    """All tables, those without such a column included."""
    rows = await conn.fetch(
        "SELECT pg_class.oid::regclass::text AS name FROM pg_class"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'p') AND NOT relispartition"
        " AND nspname NOT IN ('pg_catalog', 'information_schema')"
    )
    return {row["name"] for row in rows}


def going_with_users(found: Iterable[Reference]) -> set[str]:
    """The tables whose rows go with a user, at once or with a row that does."""
    going = {"users"}
    while more := {
        one.table
        for one in found
        if one.on_delete == "c" and one.refers_to in going and one.table not in going
    }:
        going |= more
    return going


async def schema(database: Database) -> tuple[set[str], list[tuple[str, str]], list[Reference]]:
    """All tables, the columns that can hold who somebody is, and all foreign keys."""
    found: Any = (
        await database.read(tables),
        await database.read(columns),
        await database.read(references),
    )
    return found


def undeclared(
    all_tables: set[str], all_columns: list[tuple[str, str]], keys: list[Reference]
) -> tuple[set[str], set[tuple[str, str]]]:
    """The tables and the columns of which the schema does not say what becomes of them: they have to be declared."""
    going = going_with_users(keys)
    referring = {(one.table, one.column) for one in keys}
    named = {one for one in all_columns if SAYS_WHO.fullmatch(one[1]) and one not in referring}
    return all_tables - going, named - {one for one in named if one[0] == "users"}


async def test_whatever_may_say_who_somebody_is_goes_with_them_or_is_kept_for_a_reason(
    database: Database,
) -> None:
    wanted_tables, wanted_columns = undeclared(*await schema(database))
    assert wanted_tables - TABLES.keys() == set(), "tables to be declared in tests/users/kept.py"
    assert wanted_columns - COLUMNS.keys() == set(), "columns to be declared in tests/users/kept.py"
    assert TABLES.keys() - wanted_tables == set(), "declared, though the schema says it, or gone"
    assert COLUMNS.keys() - wanted_columns == set(), "declared, though the schema says it, or gone"


async def test_whatever_refers_to_a_user_lets_them_go(database: Database) -> None:
    _, _, keys = await schema(database)
    holding = [one for one in keys if one.refers_to == "users" and one.on_delete not in {"c", "n"}]
    assert holding == []


async def test_a_table_or_a_column_that_was_forgotten_is_found(database: Database) -> None:
    async def add(conn: Connection) -> None:
        await conn.execute("CREATE TABLE forgotten (said text)")
        await conn.execute("ALTER TABLE networks ADD COLUMN reviewer_id text")
        await conn.execute("ALTER TABLE connect_servers ADD COLUMN banned_by text[]")
        await conn.execute("ALTER TABLE reports ADD COLUMN judge text REFERENCES users")

    await database.transact(add)
    found = await schema(database)
    wanted_tables, wanted_columns = undeclared(*found)
    assert wanted_tables - TABLES.keys() == {"forgotten"}
    assert wanted_columns - COLUMNS.keys() == {("networks", "reviewer_id"), ("connect_servers", "banned_by")}
    assert [
        (one.table, one.column) for one in found[2] if one.refers_to == "users" and one.on_delete == "a"
    ] == [("reports", "judge")]
