"""Tables of cases that share a world (`tests/support/one_world.py`): what they take, and what they refuse."""

import pytest

from tests.support.one_world import in_one_world


@pytest.fixture
def met() -> list[tuple[str, int]]:
    return []


@in_one_world("number", [1, 2])
@in_one_world("letter", "ab")
async def test_tables_above_one_another_are_multiplied_and_share_fixtures(
    met: list[tuple[str, int]], letter: str, number: int
) -> None:
    met.append((letter, number))
    assert met == [("a", 1), ("b", 1), ("a", 2), ("b", 2)][: len(met)]


def test_a_table_without_cases_is_refused() -> None:
    with pytest.raises(ValueError, match="no case"):
        in_one_world("number", [])


def test_a_case_with_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no marks"):
        in_one_world("number", [pytest.param(1, marks=pytest.mark.slow)])
