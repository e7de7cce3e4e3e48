"""JSON in and out: bodies become frozen structs, and what does not fit is reported with a JSON pointer.

Structs derive from `Wire` (camelCase in JSON, snake_case in code). Unknown fields are ignored, wrong types are a 422
(contract, opening), and null stands for the default of what may be left out (`nulls.py`). Beyond what msgspec checks,
`strict_json.py` refuses a body that

- nests deeper than 32 levels, or names a member twice: 400, since parsers disagree on such text (RFC 8259 §4),
- holds U+0000, which PostgreSQL cannot store, or a number beyond 64 bits: 422.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import msgspec
from msgspec import inspect

from actors.errors import Invalid
from actors.field_errors import FieldError
from routes.edge.errors import MalformedJson
from routes.edge.nulls import convert
from routes.edge.reply import Encoded
from routes.edge.strict_json import escaped, parse


class Wire(msgspec.Struct, frozen=True, rename="camel"):
    """Base of the structs of requests and responses: frozen, camelCase in JSON, null for what is absent."""


def encode(value: object) -> bytes:
    """The JSON of a struct, or of a container of structs; `Encoded` and `Raw` are copied as they are.

    Args:
        value: the struct or container, as a handler returned it.

    Raises:
        TypeError: a value has no JSON form.
    """
    if isinstance(value, Encoded):
        return value.data
    return _encoder.encode(value)


def _embed(value: object) -> msgspec.Raw:
    if isinstance(value, Encoded):
        return msgspec.Raw(value.data)
    raise TypeError(f"{type(value).__name__} does not cross the wire")


_encoder = msgspec.json.Encoder(enc_hook=_embed)


@dataclass(frozen=True)
class Shape:
    """How a body is decoded.

    Args:
        type_: the struct that it becomes, as an endpoint declares it.
    """

    type_: Any

    @cached_property
    def decoder(self) -> msgspec.json.Decoder[object] | None:
        """The decoder of a struct that keeps part of the JSON text (`msgspec.Raw`). None for all other structs: they
        are converted from the values that were checked, so that the text is read once.

        Made for the first body: making all decoders at import would add a twelfth to the time that it takes.
        """
        return msgspec.json.Decoder(self.type_) if _keeps_text(self.type_) else None


def decode(data: bytes, shape: Shape) -> object:
    """Decode a JSON body into a struct.

    Args:
        data: the whole body.
        shape: the shape of the endpoint's body.

    Raises:
        MalformedJson: the body is empty, or not JSON that is accepted (`strict_json.py`).
        PayloadTooLarge: the body has more than 256 KiB without its long strings.
        Invalid: the body is JSON, but not this struct, or holds values that cannot be stored.
    """
    if not data:
        raise MalformedJson("a JSON body is required")
    values, errors = parse(data)
    if errors:
        raise Invalid(*errors)
    try:
        if shape.decoder is not None:
            return shape.decoder.decode(data)
        return convert(values, shape.type_)
    except msgspec.ValidationError as error:
        raise Invalid(field_error(error)) from None


def _keeps_text(type_: Any) -> bool:
    """Whether a type has a `msgspec.Raw` field, at any depth."""
    seen: set[int] = set()
    waiting: list[object] = [inspect.type_info(type_)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, inspect.RawType):
            return True
        if isinstance(one, tuple):
            waiting.extend(one)
        elif isinstance(one, inspect.Type | inspect.Field) and id(one) not in seen:
            seen.add(id(one))
            waiting.extend(getattr(one, name) for name in one.__struct_fields__)
    return False


_PLACE = re.compile(r" - at `(?:key in )?\$([^`]*)`$")
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]|\[\.\.\.\]")
_MISSING = re.compile(r"Object missing required field `([^`]+)`")

_CODES = (
    ("Object missing", "REQUIRED"),
    ("Invalid enum", "UNKNOWN_VALUE"),
    ("Invalid value", "UNKNOWN_VALUE"),
    ("Integer value out of range", "OUT_OF_RANGE"),
    ("Number out of range", "OUT_OF_RANGE"),
)
"""(beginning of msgspec's message, error code)."""

_OF_JSON = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "NoneType": "null",
    "list": "array",
    "dict": "object",
}
"""What msgspec calls a type, and what it is called in JSON, which is what clients write."""

_TYPES = re.compile(r"(?<=xpected `)[^`]+|(?<=got `)[^`]+")

_BOUNDED = re.compile(r"Expected `(\w+)` (of length )?(>=|<=|>|<|matching|that's)")


def field_error(error: msgspec.ValidationError) -> FieldError:
    """Translate msgspec's error into a pointer, a code and a sentence of this API.

    Args:
        error: as raised by decoding or converting; msgspec reports the first wrong field only.
    """
    text = str(error)
    place = _PLACE.search(text)
    rule = text[: place.start()] if place is not None else text
    pointer = ""
    for name, index in _STEP.findall(place[1] if place is not None else ""):
        if not name and not index:
            break  # `[...]` stands for a key that msgspec does not name
        pointer += f"/{escaped(name or index)}"
    missing = _MISSING.match(rule)
    if missing is not None:
        return FieldError(f"{pointer}/{escaped(missing[1])}", "REQUIRED", "this field is required")
    code = _code_of(rule)
    if code == "UNKNOWN_VALUE":
        # The value itself may be a secret that was sent to the wrong field.
        return FieldError(pointer, code, "not one of the values that are known here")
    rule = _TYPES.sub(_in_json, rule)
    return FieldError(pointer, code, rule[:1].lower() + rule[1:].replace("`", ""))


def _in_json(types: re.Match[str]) -> str:
    return " | ".join(_OF_JSON.get(one, one) for one in types[0].split(" | "))


def _code_of(rule: str) -> str:
    for beginning, code in _CODES:
        if rule.startswith(beginning):
            return code
    bounded = _BOUNDED.match(rule)
    if bounded is None:
        return "WRONG_TYPE"
    if bounded[2]:
        return "BAD_LENGTH"
    return "BAD_FORMAT" if bounded[3] == "matching" else "OUT_OF_RANGE"
