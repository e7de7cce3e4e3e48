"""Tables of cases that run one after the other in one world, since opening a world costs more than most cases.

The cases must not see each other: each has users of its own, or is refused. Each is reported by itself.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import update_wrapper
from typing import Any, TypeAlias

import pytest
from _pytest.mark.structures import ParameterSet

Test: TypeAlias = Callable[..., Awaitable[None]]


def in_one_world(
    names: str | Sequence[str],
    cases: Iterable[Any],
    *,
    ids: Sequence[str] | Callable[[Any], object] | None = None,
) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but all cases share the fixtures of the test, and are subtests of it. Tables that
    stand above one another are multiplied.

    Args:
        names: the names of the parameters, as one text with commas or as several.
        cases: for each case a tuple of values, or the value where there is one parameter.
        ids: the names of the cases, or a function that makes a name of a value.

    Raises:
        ValueError: there are no cases, or one has marks, which concern a test.
    """
    named = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [
        ParameterSet.extract_from(case, force_tuple=len(named) == 1 and not isinstance(names, list | tuple))
        for case in cases
    ]
    if not rows:
        raise ValueError("a test of no case would pass")
    if any(row.marks for row in rows):
        raise ValueError("a case that shares its world has no marks of its own")

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        kept = {name: each for name, each in signature.parameters.items() if name not in named}
        has_subtests = "subtests" in kept

        async def play(subtests: pytest.Subtests, **fixtures: Any) -> None:
            given = fixtures | {"subtests": subtests} if has_subtests else fixtures
            for number, row in enumerate(rows):
                values = dict(zip(named, row.values, strict=True))
                with subtests.test(_called(row, number, ids)):
                    await test(**given, **values)

        update_wrapper(play, test)
        kept["subtests"] = inspect.Parameter("subtests", inspect.Parameter.KEYWORD_ONLY)
        play.__signature__ = signature.replace(parameters=list(kept.values()))  # type: ignore[attr-defined]  # read by pytest
        return play

    return decorate


def _called(row: ParameterSet, number: int, ids: Sequence[str] | Callable[[Any], object] | None) -> str:
    if isinstance(row.id, str):
        return row.id
    if callable(ids):
        return "-".join(str(ids(value)) for value in row.values)
    return repr(row.values) if ids is None else str(ids[number])
