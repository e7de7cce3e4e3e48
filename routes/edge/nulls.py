"""Null for what may be left out: clients write each field that they know, with null for one that has no value (service
description §2: "Omitted optional values may appear as null").

Where a field may be left out because it has a default, null stands for the default. Where leaving it out means that
nothing changes (`UnsetType`, in PATCH), null would have to mean something else (RFC 7396 §1: removed), and stays an
error unless the field says what.
"""

from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT, UNSET, inspect

from routes.edge.strict_json import Json

_TAKE_NULL = inspect.NoneType | inspect.AnyType | inspect.RawType


def convert(values: Json, type_: Any) -> Any:
    """Convert values of JSON into a type, with null where a field may be left out.

    What has no such null costs nothing more; what has one is walked and converted once more.

    Args:
        values: as `strict_json.parse` returned them, so at most 32 levels.
        type_: a struct, or a container or union of structs.

    Raises:
        msgspec.ValidationError: the values do not fit.
    """
    try:
        return msgspec.convert(values, type_)
    except msgspec.ValidationError as error:
        if "got `null`" not in str(error):
            raise
        return msgspec.convert(_without_nulls(values, _described(type_)), type_)


@cache
def _described(type_: Any) -> inspect.Type:
    return inspect.type_info(type_)


@cache
def _fields(struct: type[msgspec.Struct]) -> dict[str, inspect.Field]:
    """The fields of a struct by their names in JSON."""
    described: Any = _described(struct)
    return {field.encode_name: field for field in described.fields}


def _without_nulls(value: Json, type_: inspect.Type) -> Json:
    """The value without members that are null where they may be left out. What is longer than it may be stays as it is:
    it is refused in any case."""
    if isinstance(value, dict):
        return _members(value, type_)
    if isinstance(value, list):
        items = _of(type_, inspect.CollectionType)
        if items is None or _is_too_long(value, items):
            return value
        return [_without_nulls(item, items.item_type) for item in value]
    return value


def _members(value: dict[str, Json], type_: inspect.Type) -> Json:
    table = _of(type_, inspect.DictType)
    if table is not None:
        if isinstance(table.value_type, inspect.AnyType) or _is_too_long(value, table):
            return value
        return {name: _without_nulls(member, table.value_type) for name, member in value.items()}
    struct = _struct_of(value, type_)
    if struct is None:
        return value
    fields = _fields(struct.cls)
    kept: dict[str, Json] = {}
    for name, member in value.items():
        field = fields.get(name)
        if field is None:
            kept[name] = member
        elif member is not None or not _stands_for_default(field):
            kept[name] = _without_nulls(member, field.type)
    return kept


def _stands_for_default(field: inspect.Field) -> bool:
    """Whether null is nothing that the field takes, and it has a default."""
    if field.default is UNSET or (field.default is NODEFAULT and field.default_factory is NODEFAULT):
        return False
    return not any(isinstance(one, _TAKE_NULL) for one in _choices(field.type))


def _struct_of(value: dict[str, Json], type_: inspect.Type) -> inspect.StructType | None:
    """The struct that an object becomes: by its tag where several are told apart by one."""
    for one in _choices(type_):
        if isinstance(one, inspect.StructType) and (
            one.tag_field is None or value.get(one.tag_field) == one.tag
        ):
            return one
    return None


def _is_too_long(value: dict[str, Json] | list[Json], type_: Any) -> bool:
    return type_.max_length is not None and len(value) > type_.max_length


def _of(type_: inspect.Type, kind: type[Any]) -> Any:
    return next((one for one in _choices(type_) if isinstance(one, kind)), None)


def _choices(type_: inspect.Type) -> tuple[inspect.Type, ...]:
    """The types that a value of this type may have."""
    if isinstance(type_, inspect.Metadata):
        return _choices(type_.type)
    return type_.types if isinstance(type_, inspect.UnionType) else (type_,)
