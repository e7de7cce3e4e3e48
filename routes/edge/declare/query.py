"""Query and path parameters: from text to typed values.

A query is a struct whose fields are numbers, booleans, ids, strings, enumerations, or lists of those; how to read it
is worked out once, at declaration. A value that is not of its type is a 400 `BAD_QUERY`; a malformed id in the path is
a 404, like an id that does not exist (contract §1).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, TypeVar, Union, get_args, get_origin, get_type_hints
from urllib.parse import parse_qsl

import msgspec

from actors.errors import NotFound
from actors.ids import ObjectId, Uuid, parse_object_id, parse_uuid
from routes.edge.errors import BadQuery, bad_parameter

N = TypeVar("N", int, float)

KEPT_QUERIES = 256
"""Decoded queries that are cached per route: nearly all are one of a few, and decoding costs 6 µs."""

KEPT_QUERY_BYTES = 64
"""The longest query that is cached: longer ones hold cursors or texts, which hardly come twice."""

MAX_FIELDS = 100
"""Parameters of one query; no route has as many."""

MAX_ESCAPES = 4_096
"""Percent signs of one query: decoding one costs more than anything else that is read of it."""

MAX_TEXT_CHARACTERS = 8_192
"""The longest value of a parameter: the names of as many channels as one socket may watch."""

MAX_SEGMENT_CHARACTERS = 200
"""The longest path parameter of free text, and the longest segment of the rest of a path."""

MAX_REST_CHARACTERS = 500
"""The longest rest of a path. A character may take 12 bytes of a request's head, which has 16 KiB."""

_INTEGER = re.compile(r"[+-]?[0-9]{1,4000}", re.ASCII)
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(?:\.[0-9]{1,300})?", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class ParameterForm(Enum):
    """The form of a parameter that is not a number or a flag."""

    OBJECT_ID = "objectId"
    UUID = "uuid"
    TEXT = "text"
    REST = "rest"
    """The segments of a path from one place to its end, with the slashes between them."""

    @classmethod
    def of(cls, annotation: object) -> "ParameterForm":
        """The form that an annotated type of an id or of free text stands for."""
        # A NewType of a NewType (UserId of Uuid) has the form of the type below it.
        while annotation is not str:
            if annotation is ObjectId:
                return cls.OBJECT_ID
            if annotation is Uuid:
                return cls.UUID
            annotation = getattr(annotation, "__supertype__", str)
        return cls.TEXT


def _segment(text: str) -> str | None:
    return text if 0 < len(text) <= MAX_SEGMENT_CHARACTERS and "\0" not in text else None


def _rest(text: str) -> str | None:
    """The rest of a path if no segment is empty, `.` or `..`, so that it stays below any path it is appended to; else
    None."""
    if len(text) > MAX_REST_CHARACTERS or not text.isprintable() or "\\" in text:
        return None
    segments = text.split("/")
    if any(segment in {".", ".."} or _segment(segment) is None for segment in segments):
        return None
    return text


_PARSERS: dict[ParameterForm, Callable[[str], str | None]] = {
    ParameterForm.OBJECT_ID: parse_object_id,
    ParameterForm.UUID: parse_uuid,
    ParameterForm.TEXT: _segment,
    ParameterForm.REST: _rest,
}


@dataclass(frozen=True, slots=True)
class PathParam:
    """One `{parameter}` of a path.

    Args:
        wire: the parameter's name in the path, camelCase.
        name: its name as the handler's argument, snake_case.
        form: what it must look like.
        not_found: the refusal of a malformed value.
    """

    wire: str
    name: str
    form: ParameterForm
    not_found: type[NotFound]

    def parse(self, text: str) -> str | None:
        """Parse the parameter's text: an id in lower case, or free text unchanged; None when it is malformed."""
        return _PARSERS[self.form](text)


@dataclass(frozen=True, slots=True)
class Clamp:
    """A number outside its range is moved into it, not refused: `limit: Annotated[int, Clamp(1, 120)] = 50`.

    Args:
        least: the lower end, included.
        most: the upper end, included.
    """

    least: int
    most: int

    def into(self, number: N) -> N:
        """The number, or the nearest end of the range."""
        return min(max(number, self.least), self.most)


class Lenient:
    """Base of a query, beside `Wire`, that is as good as empty where it cannot be read: for where others lead browsers,
    which would show the document of a refusal as a page.
    """

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class QueryField:
    """How one query parameter is read.

    Args:
        wire: the parameter's name in the address.
        reads: `int`, `float`, `bool` or `str`: the type that the text is converted to before the struct validates it;
            or the form of an id, which is put into lower case.
        many: whether repeated parameters are collected into a list; otherwise the last one counts.
        clamp: the range into which a number is moved, or None.
    """

    wire: str
    reads: type | ParameterForm
    many: bool
    clamp: Clamp | None


@dataclass(frozen=True, slots=True, eq=False)
class QueryPlan:
    """How a query string becomes a struct; caches what it has decoded.

    Args:
        struct: what it becomes.
        fields: {parameter: how it is read}.
        lenient: whether one that cannot be read is as good as none (`Lenient`), instead of refused.
    """

    struct: type[msgspec.Struct]
    fields: dict[str, QueryField]
    lenient: bool = False
    _kept: dict[bytes, msgspec.Struct] = field(default_factory=dict)

    @classmethod
    def of(cls, struct: type) -> "QueryPlan":
        """The plan for a struct, from its annotations.

        Raises:
            TypeError: `struct` is not a struct, or a field has a type that text cannot express.
        """
        if not issubclass(struct, msgspec.Struct):
            raise TypeError(f"{struct.__name__} is not a struct")
        hints = get_type_hints(struct, include_extras=True)
        fields = {}
        for own in msgspec.structs.fields(struct):
            reads, many, clamp = _reading(hints[own.name])
            fields[own.encode_name] = QueryField(own.encode_name, reads, many, clamp)
        return cls(struct, fields, issubclass(struct, Lenient))

    def decode(self, query: bytes) -> msgspec.Struct:
        """Decode a query string; unknown parameters are ignored.

        Args:
            query: the raw text after the `?`.

        Raises:
            BadQuery: a parameter is not of its type, a required one is missing, or there is too much to parse, and the
                plan is not lenient.
        """
        kept = self._kept.get(query)
        if kept is not None:
            return kept
        try:
            decoded = self._decoded(query)
        except BadQuery:
            if not self.lenient:
                raise
            return self.struct()
        if len(query) <= KEPT_QUERY_BYTES:
            if len(self._kept) >= KEPT_QUERIES:
                self._kept.clear()
            self._kept[query] = decoded
        return decoded

    def _decoded(self, query: bytes) -> msgspec.Struct:
        values: dict[str, object] = {}
        if query:
            for wire, text in _pairs(query):
                known = self.fields.get(wire)
                if known is None:
                    continue
                value = _read(known, text)
                if known.many:
                    collected = values.setdefault(wire, [])
                    if isinstance(collected, list):
                        collected.append(value)
                else:
                    values[wire] = value
        try:
            return msgspec.convert(values, self.struct)
        except msgspec.ValidationError as error:
            parameter = _NAMED.search(str(error))
            name = parameter[1] or parameter[2] if parameter is not None else ""
            raise bad_parameter(name, "is missing or not valid") from None


_NAMED = re.compile(r"required field `([^`]+)`|at `\$\.([^`.\[]+)")


def _pairs(query: bytes) -> list[tuple[str, str]]:
    if query.count(b"%") > MAX_ESCAPES:
        raise BadQuery("the query string is not valid")
    try:
        return parse_qsl(
            query.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS
        )
    except ValueError:
        raise BadQuery("the query string is not valid") from None


def _read(field: QueryField, text: str) -> object:
    if len(text) > MAX_TEXT_CHARACTERS:
        raise bad_parameter(field.wire, "is too long")
    if "\0" in text:
        raise bad_parameter(field.wire, "must not contain U+0000")
    if field.reads is int:
        if _INTEGER.fullmatch(text) is None:
            raise bad_parameter(field.wire, "is not an integer")
        number = int(text)
        if field.clamp is not None:
            return field.clamp.into(number)
        if not -(2**63) <= number < 2**63:
            raise bad_parameter(field.wire, "is out of range")
        return number
    if field.reads is float:
        if _NUMBER.fullmatch(text) is None:
            raise bad_parameter(field.wire, "is not a number")
        amount = float(text)
        return amount if field.clamp is None else field.clamp.into(amount)
    if field.reads is bool:
        flag = _BOOLEANS.get(text.lower())
        if flag is None:
            raise bad_parameter(field.wire, "is neither true nor false")
        return flag
    if isinstance(field.reads, ParameterForm):
        id = _PARSERS[field.reads](text)
        if id is None:
            raise bad_parameter(field.wire, f"is not a valid {field.reads.value}")
        return id
    return text


def _reading(annotation: object) -> tuple[type | ParameterForm, bool, Clamp | None]:
    clamp = None
    if get_origin(annotation) is Annotated:
        annotation, *extras = get_args(annotation)
        clamp = next((extra for extra in extras if isinstance(extra, Clamp)), None)
    if get_origin(annotation) in {Union, UnionType}:
        rest = [part for part in get_args(annotation) if part not in {NoneType, msgspec.UnsetType}]
        if len(rest) != 1:
            raise TypeError(f"a query parameter cannot be {annotation}")
        reads, many, inner = _reading(rest[0])
        return reads, many, clamp or inner
    if get_origin(annotation) in {list, tuple}:
        reads, _, inner = _reading(get_args(annotation)[0])
        return reads, True, clamp or inner
    for plain in (int, float, bool):
        if annotation is plain:
            return plain, False, clamp
    form = ParameterForm.of(annotation)
    return (str if form is ParameterForm.TEXT else form), False, clamp
