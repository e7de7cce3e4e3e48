"""Statements that name many columns, made of the names of a struct's fields, which are constants of the code."""

from collections.abc import Sequence


def inserting(table: str, columns: Sequence[str]) -> str:
    """An INSERT of one row; the columns are its parameters, in their order.

    Args:
        table, columns: names of the schema, never text of a client.
    """
    values = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({values})"  # noqa: S608 - names of the schema


def updating(table: str, columns: Sequence[str]) -> str:
    """An UPDATE of the row whose `id` is the first parameter; the columns are the others, in their order.

    Args:
        table, columns: as in `inserting`.
    """
    changes = ", ".join(f"{name} = ${n}" for n, name in enumerate(columns, 2))
    return f"UPDATE {table} SET {changes} WHERE id = $1"  # noqa: S608 - names of the schema


def replacing(columns: Sequence[str]) -> str:
    """What follows an INSERT so that it replaces the row that has the same `id`, the first column."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    return f" ON CONFLICT (id) DO UPDATE SET {changes}"
