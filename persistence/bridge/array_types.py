"""The arrays that our statements take, told to asyncpg instead of asked for.

asyncpg knows `text[]` by itself. Of any other array it asks PostgreSQL on each connection that meets it, in a recursive
query over the catalogs that takes 6 ms of PostgreSQL's CPU; opening the connection takes 1.6. The numbers of built-in
types never change (`pg_type.dat` in PostgreSQL's source), so they are a table here.
"""

from typing import Any

import asyncpg


def _array(oid: int, name: str, element_oid: int, element: str) -> dict[str, Any]:
    return {
        "oid": oid, "ns": "pg_catalog", "name": name, "kind": b"b", "basetype": None, "elemtype": element_oid,
        "elemdelim": b",", "range_subtype": None, "attrtypoids": None, "attrnames": None, "depth": 0,
        "basetype_name": None, "elemtype_name": element, "range_subtype_name": None,
    }  # fmt: skip


ARRAY_TYPES = (
    _array(1000, "_bool", 16, "boolean"),
    _array(1001, "_bytea", 17, "bytea"),
    _array(1005, "_int2", 21, "smallint"),
    _array(1007, "_int4", 23, "integer"),
    _array(1016, "_int8", 20, "bigint"),
)
"""Rows as asyncpg's own query answers them."""


def tell_array_types(connection: asyncpg.Connection) -> None:
    """Tell a connection of `ARRAY_TYPES`; it asks for none of them from then on."""
    # asyncpg has no public way: `set_type_codec` asks for the type as well, and takes no arrays.
    connection._protocol.get_settings().register_data_types(ARRAY_TYPES)
