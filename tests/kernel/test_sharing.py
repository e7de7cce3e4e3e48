"""How commands are divided into turns makes no difference: to no kind that looks things up."""

import ast
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.kernel.sharing import Rows, Subject, outcome, prepare
from tests.kernel.sharing_kinds import SUBJECTS
from tests.support.database import PATIENCE_SECONDS
from tests.support.depth import depth
from tests.support.warm import WARM

EXAMPLES = depth(10, long=30)

ROOT = Path(__file__).parents[2]


async def _differs(
    url: str, subject: Subject, prepared: list[Rows], groupings: list[list[list[Any]]]
) -> None:
    async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
        if not prepared:
            prepared.append(await prepare(database, subject))
        first, *others = [await outcome(database, subject, prepared[0], groups) for groups in groupings]
    for other in others:
        assert other.differing_events(first) == []
        assert other == first


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("subject_of", SUBJECTS, ids=lambda subject_of: subject_of.__name__)
def test_turns_may_be_cut_anywhere(subject_of: Callable[[], Subject], database_url: str) -> None:
    subject = subject_of()
    prepared: list[Rows] = []

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(subject.steps, min_size=2, max_size=20), st.sets(st.integers(1, 23), max_size=4))
    def holds(steps: list[Sequence[Callable[[int], Any]]], cuts: set[int]) -> None:
        commands = [step(n) for n, step in enumerate(chain.from_iterable(steps))]
        places = [0, *sorted(cut for cut in cuts if cut < len(commands)), len(commands)]
        alone = [[command] for command in commands]
        cut = [commands[start:end] for start, end in pairwise(places)]
        trio.run(_differs, database_url, subject, prepared, [alone, [commands], cut])

    holds()


def _looks_things_up(tree: ast.AST) -> bool:
    """Whether a module makes a `Kind` with lookups."""
    for call in ast.walk(tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Kind":
            return any(keyword.arg == "lookups" for keyword in call.keywords)
    return False


def test_every_kind_that_looks_things_up_is_held_to_it() -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for folder in ("actors", "tests")
        for path in (ROOT / folder).rglob("*.py")
        if _looks_things_up(ast.parse(path.read_text()))
    }
    assert found == {subject_of().made_in for subject_of in SUBJECTS}
