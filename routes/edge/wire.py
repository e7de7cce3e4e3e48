"""JSON in and out: bodies become frozen structs, and what does not fit becomes a JSON pointer.

Structs are `Wire` (camelCase on the wire, snake_case here). Unknown fields are ignored, wrong types are a 422
(contract, opening). Beside what msgspec checks, a body may not

- nest deeper than 32, or name a member twice: 400, since readers differ on what such text means (RFC 8259
  §4),
- hold U+0000, which PostgreSQL cannot store, or a whole number beyond 64 bits: 422.
"""

import json
import re
from collections.abc import Iterator
from typing import NoReturn, TypeAlias

import msgspec

from actors.errors import FieldError, Invalid
from routes.edge.errors import MalformedJson
from routes.edge.reply import Encoded

MAX_DEPTH = 32
"""Levels of arrays and objects (reliability R5)."""

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest whole number that every JSON reader keeps exact; the bound of `…Ms` fields."""

_BIGINT_MIN, _BIGINT_MAX = -(2**63), 2**63 - 1

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"


class Wire(msgspec.Struct, frozen=True, rename="camel"):
    """What crosses the wire: frozen, snake_case in code, camelCase in JSON, null for what is absent."""


def encode(value: object) -> bytes:
    """JSON of a struct, or of anything that holds structs; `Encoded` and `Raw` go in as they are.

    Args:
        value: what a handler returned.
    """
    if isinstance(value, Encoded):
        return value.data
    return _encoder.encode(value)


def _embed(value: object) -> msgspec.Raw:
    if isinstance(value, Encoded):
        return msgspec.Raw(value.data)
    raise TypeError(f"{type(value).__name__} does not cross the wire")


_encoder = msgspec.json.Encoder(enc_hook=_embed)


def decode(data: bytes, decoder: msgspec.json.Decoder[object]) -> object:
    """The struct that a body holds.

    Args:
        data: the whole body.
        decoder: of the endpoint's body type.

    Raises:
        MalformedJson: it is not JSON that we read.
        Invalid: it is JSON, but not this struct.
    """
    if not data:
        raise MalformedJson("a JSON body is required")
    _check_depth(data)
    plain = _plain(data)
    if _SUSPECT.search(data) is not None:
        errors = tuple(_unstorable(plain, ""))
        if errors:
            raise Invalid(*errors)
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise Invalid(field_error(error)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MalformedJson from None


_SUSPECT = re.compile(rb"\\u0000|[0-9]{19}")
"""Text without any of these holds no U+0000 and no number beyond 64 bits; text with one is looked through."""

_BRACKETS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def _check_depth(data: bytes) -> None:
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return
    depth = 0
    for token in _BRACKETS.finditer(data):
        first = data[token.start()]
        if first in b"[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise MalformedJson(f"the body nests deeper than {MAX_DEPTH} levels")
        elif first in b"]}":
            depth -= 1


def _plain(data: bytes) -> Json:
    """The body as plain values, by the standard library: it alone tells of members that are named twice."""
    try:
        plain: Json = _strict.decode(data.decode())
    except ValueError:
        raise MalformedJson from None
    return plain


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member is named twice")
    return members


def _no_constant(_name: str) -> NoReturn:
    raise ValueError("NaN and Infinity are not JSON")


_strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


def _unstorable(value: Json, pointer: str) -> Iterator[FieldError]:
    """Where U+0000 and numbers beyond 64 bits are."""
    if isinstance(value, str):
        if "\0" in value:
            yield FieldError(pointer, "INVALID_TEXT", "the character U+0000 is not allowed")
    elif isinstance(value, int):
        if not _BIGINT_MIN <= value <= _BIGINT_MAX:
            yield FieldError(pointer, "OUT_OF_RANGE", "the number is out of range")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unstorable(item, f"{pointer}/{index}")
    elif isinstance(value, dict):
        for name, member in value.items():
            inside = f"{pointer}/{escaped(name)}"
            if "\0" in name:
                yield FieldError(pointer, "INVALID_TEXT", "the character U+0000 is not allowed")
            yield from _unstorable(member, inside)


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
"""(how msgspec begins, our code)."""

_BOUNDED = re.compile(r"Expected `(\w+)` (of length )?(>=|<=|>|<|matching|that's)")


def field_error(error: msgspec.ValidationError) -> FieldError:
    """msgspec's sentence as a pointer, a code and a sentence of ours.

    Args:
        error: as raised by decoding or converting; msgspec tells of the first broken field only.
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
    return FieldError(pointer, code, rule[:1].lower() + rule[1:].replace("`", ""))


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


def escaped(name: str) -> str:
    """A member's name as a step of a JSON pointer (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")
