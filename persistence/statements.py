"""Builds SQL statements from constants of the code: from many column names, or from a choice of conditions."""

from collections.abc import Mapping, Sequence
from itertools import compress, product


def inserting(table: str, columns: Sequence[str]) -> str:
    """An INSERT of one row; the columns are its parameters, in their order.

    Args:
        table, columns: names in the schema, never text from a client.
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
    """The clause after an INSERT that makes it replace the row with the same `id`, which is the first column."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in columns[1:])
    return f" ON CONFLICT (id) DO UPDATE SET {changes}"


def filtered(page: str, conditions: Sequence[str], taken: int) -> Mapping[tuple[bool, ...], str]:
    """{for each condition whether it is used: the statement}, for every choice of conditions. One statement in which a
    NULL parameter switches a condition off would be planned without indexes for the others.

    Args:
        page: the statement, with `{}` where further conditions go.
        conditions: SQL of each condition, with `{}` for the number of its parameter if it has one; the values follow in
            the order of the conditions.
        taken: how many parameters the statement has without the conditions.
    """
    statements = {}
    for given in product((False, True), repeat=len(conditions)):
        number, added = taken, ""
        for condition in compress(conditions, given):
            number += "{}" in condition
            added += f" AND {condition.format(number)}"
        statements[given] = page.format(added)
    return statements
