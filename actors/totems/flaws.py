"""What can be wrong inside an uploaded model, and the small questions that both formats ask of it.

A pointer into the body ends at the base64, so that the place within the model is said in the sentence, as path.
"""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

from actors.errors import FieldError, Invalid

DATA = "/data/data"
"""Where the model stands in the request."""

Json: TypeAlias = Any
"""What JSON decodes to."""

Object: TypeAlias = dict[str, Json]
"""A JSON object."""


def flaw(code: str, place: str, what: str) -> Invalid:
    """The refusal of a model.

    Args:
        code: one of the codes of fields.
        place: a path within the model, such as `elements/3/from`.
        what: the rest of a sentence about it.
    """
    return Invalid(FieldError(DATA, code, f"the model's {place} {what}"))


def an_object(value: Json, place: str) -> Object:
    """The value, if it is an object; `place` says where it stands in the model, for the error."""
    if not isinstance(value, dict):
        raise flaw("WRONG_TYPE", place, "is not an object")
    return value


def members(value: Json, place: str, most: int, *, least: int = 1) -> list[Json]:
    """The value, if it is a list of `least` to `most`; `place` says where it stands, for the error."""
    if not isinstance(value, list):
        raise flaw("WRONG_TYPE", place, "is not a list")
    if len(value) < least:
        raise flaw("TOO_FEW", place, f"has fewer than {least}")
    if len(value) > most:
        raise flaw("TOO_MANY", place, f"has more than {most}")
    return value


def number(value: Json, place: str, bound: float) -> None:
    """Pass a finite number whose amount is at most `bound`; `place` says where it stands, for the error."""
    # Not of whole numbers: one beyond every float is finite, and no float to ask about.
    endless = isinstance(value, float) and not math.isfinite(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or endless:
        raise flaw("WRONG_TYPE", place, "is not a number")
    if abs(value) > bound:
        raise flaw("OUT_OF_RANGE", place, f"is beyond {bound:g}")


def numbers(value: Json, place: str, count: int, bound: float) -> None:
    """Pass a list of exactly `count` numbers, each of an amount of at most `bound`; `place` says where it stands, for
    the error.
    """
    if not isinstance(value, list) or len(value) != count:
        raise flaw("WRONG_TYPE", place, f"is not a list of {count} numbers")
    for one in value:
        number(one, place, bound)


def text(value: Json, place: str, most: int) -> str:
    """The value, if it is a string of at most `most` characters; `place` says where it stands, for the error."""
    if not isinstance(value, str):
        raise flaw("WRONG_TYPE", place, "is not a string")
    if len(value) > most:
        raise flaw("TOO_LONG", place, f"has more than {most} characters")
    return value


def optional(owner: Object, name: str, check: Callable[[Json], None]) -> None:
    """Check the member `name` of an object, which may be missing or null."""
    if owner.get(name) is not None:
        check(owner[name])
