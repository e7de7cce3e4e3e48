"""Which fields of a response are always present.

In what clients send, a field with a default may be left out. In what the service sends, a field with a default is as
present as any other, unless the struct omits defaults, or the default is `UNSET`.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import msgspec
from msgspec import inspect

Structs: TypeAlias = dict[type[msgspec.Struct], tuple[str, ...]]
"""{struct: the names on the wire of its fields that are always sent}."""


def structs_in(types: Iterable[object]) -> Structs:
    """All structs that these types lead to.

    Args:
        types: types that msgspec knows.
    """
    found: Structs = {}
    open_ends: list[object] = list(inspect.multi_type_info(types))
    while open_ends:
        known = open_ends.pop()
        if isinstance(known, inspect.StructType):
            if known.cls in found:
                continue
            found[known.cls] = tuple(field.encode_name for field in known.fields if _is_sent(known, field))
            open_ends += [field.type for field in known.fields]
        elif isinstance(known, inspect.Type):
            open_ends += _inside(known)
    return found


def _is_sent(struct: inspect.StructType, field: inspect.Field) -> bool:
    if field.required:
        return True
    # msgspec shows UNSET as no default at all.
    has_default = (field.default, field.default_factory) != (msgspec.NODEFAULT, msgspec.NODEFAULT)
    return has_default and not struct.cls.__struct_config__.omit_defaults


def _inside(known: inspect.Type) -> Iterator[object]:
    """The types that a type is made of."""
    for name in known.__struct_fields__:
        inner = getattr(known, name)
        yield from inner if isinstance(inner, tuple) else (inner,)
