"""Statements that are made of constants of the code: of the names of many columns, or of some of several conditions."""

from collections.abc import Mapping, Sequence
from itertools import compress, product


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


def filtered(page: str, conditions: Sequence[str], taken: int) -> Mapping[tuple[bool, ...], str]:
    """{which of the conditions hold: the statement}, one for each set of them: where a parameter leaves a condition
    out, PostgreSQL uses no index for the others.

    Args:
        page: the statement, with `{}` where conditions are added to its own.
        conditions: each with `{}` for the number of its parameter, if it has one; values are passed in their order.
        taken: how many parameters the statement has without them.
    """
    statements = {}
    for given in product((False, True), repeat=len(conditions)):
        number, added = taken, ""
        for condition in compress(conditions, given):
            number += "{}" in condition
            added += f" AND {condition.format(number)}"
        statements[given] = page.format(added)
    return statements
