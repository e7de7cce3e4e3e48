"""How many requests a catalogue is sent."""

import pytest

from routes.mods.budget import PER_MINUTE, Budget

NOW_MS = 1_000_000


def sent(budget: Budget, now_ms: int) -> int:
    """How many more requests are sent at this moment."""
    count = 0
    while budget.take(now_ms) == 0:
        count += 1
    return count


def test_so_many_a_minute() -> None:
    budget = Budget(NOW_MS)
    assert sent(budget, NOW_MS) == PER_MINUTE
    assert budget.take(NOW_MS) == 60_000 // PER_MINUTE
    assert sent(budget, NOW_MS + 10_000) == PER_MINUTE // 6
    assert sent(budget, NOW_MS + 1_000_000) == PER_MINUTE


@pytest.mark.parametrize("nodes", [1, 2, 3, 7, 1_000])
def test_nodes_share_it(nodes: int) -> None:
    budgets = [Budget(NOW_MS, lambda: nodes) for _ in range(nodes)]
    assert sum(sent(one, NOW_MS) for one in budgets) in range(min(200, nodes), max(PER_MINUTE, nodes) + 1)


def test_a_node_that_comes_takes_of_the_others_shares() -> None:
    names = ["a"]
    budget = Budget(NOW_MS, lambda: len(names))
    names.append("b")
    assert sent(budget, NOW_MS) == PER_MINUTE // 2
    names.remove("a")
    assert sent(budget, NOW_MS + 60_000) == PER_MINUTE


@pytest.mark.parametrize(
    ("remaining", "left"), [("7", 7), ("300", PER_MINUTE), ("999999", PER_MINUTE), ("0", 0)]
)
def test_no_more_than_the_catalogue_says(remaining: str, left: int) -> None:
    budget = Budget(NOW_MS)
    budget.learn(remaining, "30", NOW_MS)
    assert sent(budget, NOW_MS) == left


def test_none_until_it_says_so() -> None:
    budget = Budget(NOW_MS)
    budget.learn("0", "30", NOW_MS)
    budget.learn("5", "1", NOW_MS + 1)
    assert budget.take(NOW_MS + 29_999) == 1
    assert budget.take(NOW_MS + 30_000) == 0


@pytest.mark.parametrize("remaining", [None, "", "x", "-1", "1.5", "7, 3", "9" * 7, "７"])
def test_what_is_no_number_says_nothing(remaining: str | None) -> None:
    budget = Budget(NOW_MS)
    budget.learn(remaining, "30", NOW_MS)
    assert sent(budget, NOW_MS) == PER_MINUTE


@pytest.mark.parametrize(("reset", "until_ms"), [("999999", 300_000), ("x", 0), (None, 0)])
def test_a_reset_is_bounded(reset: str | None, until_ms: int) -> None:
    budget = Budget(NOW_MS)
    budget.learn("0", reset, NOW_MS)
    assert budget.take(NOW_MS + until_ms + 1_000) == 0
    assert until_ms == 0 or budget.take(NOW_MS + until_ms - 1) == 1
