"""Schemas of settings and of extension actions, and the checking of values against them (contract §7). Pure.

| type     | a value is            | min and max are of    | options                |
|----------|-----------------------|-----------------------|------------------------|
| `bool`   | true or false         |                       |                        |
| `int`    | a whole number        | the number            | the value is one       |
| `number` | a number              | the number            | the value is one       |
| `string` | text                  | its characters        | the value is one       |
| `enum`   | one of the options    |                       | must be given          |
| `list`   | texts, numbers, bools | its items             | each item is one       |
| `secret` | text, never shown     | its characters        |                        |

A value that is null counts as absent. Keys without a field are accepted unchecked.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

import msgspec

from actors.bounds import Bigint, LongText
from actors.field_errors import FieldError

MAX_FIELDS = 200
MAX_OPTIONS = 200
MAX_ITEMS = 1_000
"""The most items of a `list`."""

SECRET = "secret"  # noqa: S105 - the name of a type

Scalar = LongText | Bigint | float | bool
_Text = Annotated[str, msgspec.Meta(max_length=500)]


class Field(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The rule for the value of one key; which members apply depends on `type`.

    Args:
        key: the key whose value this rules.
        label: its name for people.
        type: what kind of value it takes.
        description: what it is for, for people.
        required: whether the value must be present, unless it has a default.
        default: the value that is used where none is given.
        min: the least number, or the shortest text or list.
        max: the greatest number, or the longest text or list.
        options: for `enum`: the values to choose from.
    """

    key: Annotated[str, msgspec.Meta(min_length=1, max_length=100)]
    label: _Text | None = None
    type: Literal["bool", "int", "number", "string", "enum", "list", "secret"]
    description: _Text | None = None
    required: bool = False
    default: Any = None
    min: Bigint | float | None = None
    max: Bigint | float | None = None
    options: Annotated[tuple[Scalar, ...], msgspec.Meta(max_length=MAX_OPTIONS)] | None = None


class Schema(msgspec.Struct, frozen=True, rename="camel"):
    """The fields of an object, with the version that their author gave them.

    Args:
        fields: the rules, one for each key.
        version: chosen by whoever publishes it.
    """

    fields: Annotated[tuple[Field, ...], msgspec.Meta(max_length=MAX_FIELDS)] = ()
    version: Annotated[str, msgspec.Meta(min_length=1, max_length=50)] = "1"

    @property
    def secret_keys(self) -> frozenset[str]:
        """The keys of type `secret`, whose values are never shown."""
        return frozenset(field.key for field in self.fields if field.type == SECRET)


def faults(schema: Schema, pointer: str) -> Iterator[FieldError]:
    """The errors in a schema.

    Args:
        pointer: the JSON pointer to the schema in the body (RFC 6901).
    """
    seen: set[str] = set()
    for index, field in enumerate(schema.fields):
        at = f"{pointer}/fields/{index}"
        if field.key in seen:
            yield FieldError(f"{at}/key", "DUPLICATE", "two fields have this key")
        seen.add(field.key)
        if field.type == "enum" and not field.options:
            yield FieldError(f"{at}/options", "REQUIRED", "an enum has options")
        if field.min is not None and field.max is not None and field.min > field.max:
            yield FieldError(f"{at}/max", "OUT_OF_RANGE", "below min")
        if field.default is not None and field.type == SECRET:
            yield FieldError(f"{at}/default", "NOT_ALLOWED", "everybody would see it")
        elif field.default is not None:
            wrong = _wrong(field, field.default)
            if wrong is not None:
                yield FieldError(f"{at}/default", *wrong)


def fitted(values: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """The values, with defaults filled in for absent ones."""
    filled = dict(values)
    for field in schema.fields:
        if filled.get(field.key) is None and field.default is not None:
            filled[field.key] = field.default
    return filled


def misfits(values: Mapping[str, Any], schema: Schema, pointer: str) -> Iterator[FieldError]:
    """The errors of values against a schema.

    Args:
        values: the values, with defaults filled in.
        pointer: the JSON pointer to the values in the body (RFC 6901).
    """
    for field in schema.fields:
        value = values.get(field.key)
        at = f"{pointer}/{escaped(field.key)}"
        if value is None:
            if field.required:
                yield FieldError(at, "REQUIRED", "this field is required")
            continue
        wrong = _wrong(field, value)
        if wrong is not None:
            yield FieldError(at, *wrong)


def escaped(key: str) -> str:
    """Escape a key for use in a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def _wrong(field: Field, value: Any) -> tuple[str, str] | None:
    """The (code, sentence) of a value's error, or None when it is valid."""
    if not _IS[field.type](value):
        return "WRONG_TYPE", f"not of type {field.type}"
    if isinstance(value, list) and len(value) > MAX_ITEMS:
        return "TOO_MANY", f"a list has at most {MAX_ITEMS} items"
    size = len(value) if isinstance(value, str | list) else value
    if field.type not in {"bool", "enum"}:
        if field.min is not None and size < field.min:
            return "OUT_OF_RANGE", f"below {field.min:g}"
        if field.max is not None and size > field.max:
            return "OUT_OF_RANGE", f"above {field.max:g}"
    if field.options and field.type not in {"bool", SECRET}:
        items: Collection[Any] = value if isinstance(value, list) else (value,)
        if not _distinct(items) <= _distinct(field.options):
            return "UNKNOWN_VALUE", "none of the options"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SCALARS = frozenset({str, int, float, bool})


def _is_list(value: Any) -> bool:
    return isinstance(value, list) and _SCALARS.issuperset(map(type, value[:MAX_ITEMS]))


def _distinct(values: Collection[Scalar]) -> set[Scalar | tuple[bool]]:
    """The distinct values; True and 1 differ here, unlike in Python, while 1 and 1.0 are equal.

    Settings of 64 KiB have thirty thousand, and are checked in a turn: so what has no bool is left to C.
    """
    if bool not in set(map(type, values)):
        return set(values)
    return {(value,) if isinstance(value, bool) else value for value in values}


_IS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "enum": lambda value: isinstance(value, str | int | float | bool),
    "list": _is_list,
    SECRET: lambda value: isinstance(value, str),
}
