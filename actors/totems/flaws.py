"""Errors inside an uploaded model, and the small checks that both formats share.

A JSON pointer into the body can only name the base64 as a whole, so the path within the model stands in the sentence.
All checks take that path as `place`, such as `elements/3/from`.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from actors.errors import Invalid
from actors.field_errors import FieldError

DATA = "/data/data"
"""The pointer to the model in the request."""

Json: TypeAlias = Any
"""Any value that JSON decodes to."""

Object: TypeAlias = dict[str, Json]
"""A JSON object."""


def flaw(code: str, place: str, what: str) -> Invalid:
    """The refusal of a model, to be raised.

    Args:
        code: a code of field errors.
        place: the path within the model, such as `elements/3/from`.
        what: the rest of the sentence that begins with the place.
    """
    return Invalid(FieldError(DATA, code, f"the model's {place} {what}"))


def an_object(value: Json, place: str) -> Object:
    """Check that the value at `place` is an object, and return it.

    Raises:
        Invalid: the value is anything else.
    """
    if not isinstance(value, dict):
        raise flaw("WRONG_TYPE", place, "is not an object")
    return value


def members(value: Json, place: str, most: int, *, least: int = 1) -> list[Json]:
    """Check that the value at `place` is a list of `least` to `most` items, and return it.

    Raises:
        Invalid: the value is anything else.
    """
    if not isinstance(value, list):
        raise flaw("WRONG_TYPE", place, "is not a list")
    if len(value) < least:
        raise flaw("TOO_FEW", place, f"has fewer than {least}")
    if len(value) > most:
        raise flaw("TOO_MANY", place, f"has more than {most}")
    return value


def number(value: Json, place: str, bound: float) -> None:
    """Check that the value at `place` is a finite number from -`bound` to `bound`.

    Raises:
        Invalid: the value is anything else.
    """
    # Only floats are asked: an integer is always finite, and may be too large to be converted to a float.
    endless = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or endless:
        raise flaw("WRONG_TYPE", place, "is not a number")
    if abs(value) > bound:
        raise flaw("OUT_OF_RANGE", place, f"is beyond {bound:g}")


def numbers(value: Json, place: str, count: int, bound: float) -> None:
    """Check that the value at `place` is a list of exactly `count` numbers from -`bound` to `bound`.

    Raises:
        Invalid: the value is anything else.
    """
    if not isinstance(value, list) or len(value) != count:
        raise flaw("WRONG_TYPE", place, f"is not a list of {count} numbers")
    for one in value:
        number(one, place, bound)


def text(value: Json, place: str, most: int) -> str:
    """Check that the value at `place` is a string of at most `most` characters, and return it.

    Raises:
        Invalid: the value is anything else.
    """
    if not isinstance(value, str):
        raise flaw("WRONG_TYPE", place, "is not a string")
    if len(value) > most:
        raise flaw("TOO_LONG", place, f"has more than {most} characters")
    return value


def optional(owner: Object, name: str, check: Callable[[Json], None]) -> None:
    """Apply `check` to the member `name` of an object, unless it is missing or null."""
    if owner.get(name) is not None:
        check(owner[name])
