"""JSON from clients as plain values, read strictly, at a cost bounded by its length alone.

Parsers disagree on text that names a member twice, nests without end, or says NaN (RFC 8259 §4, §9), so all of that
is refused. Everything below is one pass over the text or the values, nearly all of it in C, without backtracking. The
worst 256 KiB cost seven times what ordinary ones do; `tests/edge/test_cost.py` holds it to that.

- Arrays and objects cost far more than their two brackets to make, to walk and to let go, so they are counted in the
  text, before it is read.
- msgspec makes the values; it recurses up to the interpreter's limit, so depth is counted on the values.
- Floats are read by Python: msgspec takes 8 µs for each beyond 1e300 or below 1e-300, which is a second for a body.
- No parser here reports members that are named twice. They are found by counting: the text has one colon outside of
  its strings for each member, while the values hold only members whose names differ.
- A body larger than `MAX_BYTES` is large because of files in base64. These long strings, and white space, are left
  out of the search for everything else, and the rest has the bound of any other body.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import isinf
from typing import TypeAlias

import msgspec

from actors.field_errors import MAX_POINTER_BYTES, FieldError, bounded
from routes.edge.errors import MalformedJson, PayloadTooLarge

MAX_DEPTH = 32
"""Most levels of arrays and objects (reliability R5)."""

MAX_BYTES = 256 * 1024
"""Most bytes of a body without its long strings and its white space."""

MAX_CONTAINERS = MAX_BYTES // 16
"""Most arrays and objects in a body; the ones that clients send have a fifth of that, however long they are."""

_LONG_TEXT_BYTES = 16 * 1024
_MAX_QUOTES = 4096
"""Quotes examined in the search for long strings; a body with a file in it has about a dozen."""

_WHITE_SPACE = b" \t\r\n"
_BACKSLASH = ord("\\")

_BIGINT_MIN, _BIGINT_MAX = -(2**63), 2**63 - 1

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

_decoder: msgspec.json.Decoder[Json] = msgspec.json.Decoder(float_hook=float)

_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
_LONG_INTEGER, _LONG_EXPONENT = b"0" * 19, b"e000"


def parse(data: bytes) -> tuple[Json, tuple[FieldError, ...]]:
    """Read JSON, and list the values in it that cannot be stored.

    PostgreSQL stores neither U+0000 nor integers beyond 64 bits, and no field takes a number beyond a double.

    Args:
        data: the whole text.

    Returns:
        The values, and the first 100 errors, with JSON pointers. A pointer that repeats long names of the text may be
        cut; how is said at `FieldError.within`.

    Raises:
        MalformedJson: the text is not JSON that is accepted (see the list above), or has more than 32 levels, or more
            than 16,384 arrays and objects.
        PayloadTooLarge: the text has more than 256 KiB without its long strings.
    """
    short = data if len(data) <= MAX_BYTES else _without_long_texts(data).translate(None, _WHITE_SPACE)
    if len(short) > MAX_BYTES:
        raise PayloadTooLarge("without the files in it, a body has at most 256 KiB", maxBytes=MAX_BYTES)
    if len(short) > 2 * MAX_CONTAINERS and _has_too_many_containers(short):
        raise MalformedJson(f"the body has more than {MAX_CONTAINERS} arrays and objects")
    try:
        values = _decoder.decode(data)
    except RecursionError:
        raise _too_deep() from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise MalformedJson from None
    outline = _outline(short)
    if outline.count(b":") != _members(values, outline):
        raise MalformedJson
    if not _has_long_numbers(outline) and (b"\\" not in data or b"\\u0000" not in data):
        return values, ()
    return values, bounded(_unstorable(values))


def escaped(name: str) -> str:
    """A member's name as one step of a JSON pointer (RFC 6901 §3)."""
    return name.replace("~", "~0").replace("/", "~1")


def _without_long_texts(data: bytes) -> bytes:
    """The text, with the content of its long strings removed."""
    pieces: list[bytes] = []
    kept = at = 0
    opening = -1
    for _ in range(_MAX_QUOTES):
        quote = data.find(b'"', at)
        if quote < 0:
            break
        if opening < 0:
            opening = quote
        elif not _is_escaped(data, at, quote):
            if quote - opening > _LONG_TEXT_BYTES:
                pieces.append(data[kept : opening + 1])
                kept = quote
            opening = -1
        at = quote + 1
    pieces.append(data[kept:])
    return b"".join(pieces)


def _is_escaped(data: bytes, start: int, quote: int) -> bool:
    """Whether an odd number of backslashes precedes the quote; those before `start` do not count."""
    if data[quote - 1] != _BACKSLASH:
        return False
    before = data[start:quote]
    return (len(before) - len(before.rstrip(b"\\"))) % 2 == 1


def _outline(text: bytes) -> bytes:
    """The parts of a well-formed text that are outside of its strings."""
    if b"\\" in text:
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
    return b"".join(text.split(b'"')[::2])


def _has_too_many_containers(text: bytes) -> bool:
    """Whether a text has more arrays and objects than it may; brackets in its strings are none."""
    if text.count(b"[") + text.count(b"{") <= MAX_CONTAINERS:
        return False
    outline = _outline(text)
    return outline.count(b"[") + outline.count(b"{") > MAX_CONTAINERS


def _has_long_numbers(outline: bytes) -> bool:
    """Whether a number may be beyond 64 bits: has 19 digits in a row, or an exponent of three.

    The text is searched for two fixed words once all digits look the same, since a pattern would take twelve to
    twenty-five times as long.
    """
    alike = outline.translate(_DIGITS, b"+")
    return _LONG_INTEGER in alike or _LONG_EXPONENT in alike


def _members(values: Json, outline: bytes) -> int:
    """How many members all objects have together.

    Raises:
        MalformedJson: there are more than 32 levels.
    """
    if isinstance(values, dict) and outline.count(b"{") == 1 and outline.count(b"[") < MAX_DEPTH:
        return len(values)
    count = 0
    level: list[dict[str, Json] | list[Json]] = [values] if isinstance(values, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return count
        inner: list[Json] = []
        for one in level:
            if type(one) is dict:
                count += len(one)
                inner += one.values()
            else:
                inner += one
        level = [value for value in inner if type(value) is list or type(value) is dict]
    if level:
        raise _too_deep()
    return count


def _too_deep() -> MalformedJson:
    return MalformedJson(f"the body nests deeper than {MAX_DEPTH} levels")


def _unstorable(values: Json) -> Iterator[FieldError]:
    """The errors in a text, made one at a time: it can hold any number of them."""
    flaw = _flaw(values)
    if flaw is not None:
        yield _error((), flaw)
    elif isinstance(values, (dict, list)):
        yield from _within(values, [])


def _within(values: dict[str, Json] | list[Json], path: list[str]) -> Iterator[FieldError]:
    """The errors inside an array or object; recurses at most 32 levels, as deep as the values are.

    Args:
        path: the steps to the array or object; changed while errors are made, and as before after the last.
    """
    members: Iterable[tuple[str | int, Json]] = (
        values.items() if isinstance(values, dict) else enumerate(values)
    )
    for name, value in members:
        if isinstance(name, str) and "\0" in name:
            yield _error(path, _BAD_TEXT)
        flaw = _flaw(value)
        if flaw is not None:
            yield _error((*path, _step(name)), flaw)
        elif value and isinstance(value, (dict, list)):
            path.append(_step(name))
            yield from _within(value, path)
            path.pop()


_BAD_TEXT = ("BAD_TEXT", "the character U+0000 is not allowed")
_OUT_OF_RANGE = ("OUT_OF_RANGE", "the number is out of range")


def _flaw(value: Json) -> tuple[str, str] | None:
    """(code, sentence) that say why a value cannot be stored, or None if it can; the values inside arrays and objects
    are looked at by themselves."""
    if isinstance(value, str):
        return _BAD_TEXT if "\0" in value else None
    if isinstance(value, int):
        return None if _BIGINT_MIN <= value <= _BIGINT_MAX else _OUT_OF_RANGE
    return _OUT_OF_RANGE if isinstance(value, float) and isinf(value) else None


def _step(name: str | int) -> str:
    """A step of a pointer; a name is cut if it is too long for any pointer."""
    return f"/{escaped(name[:MAX_POINTER_BYTES])}" if isinstance(name, str) else f"/{name}"


def _error(path: Sequence[str], flaw: tuple[str, str]) -> FieldError:
    """An error at the end of a path; a pointer that is too long is built only as far as it is sent."""
    pointer = ""
    for step in path:
        pointer += step
        if len(pointer) > MAX_POINTER_BYTES:
            break
    return FieldError(pointer, *flaw)
