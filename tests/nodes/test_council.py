"""Which nodes may go on, as a table: who hears whom, and what each is to do."""

import pytest

from actors.kernel.nodes.council import Seat, Verdict, verdict

GO, STAY, YIELD = Verdict.GO_ON, Verdict.STAY, Verdict.YIELD


def _hearing(*groups: str, names: str) -> list[Seat]:
    """Seats of nodes with names of one letter, the first the oldest, that hear those of their groups."""
    return [
        Seat(
            node,
            life,
            frozenset(other for group in groups if node in group for other in group if other != node),
        )
        for life, node in enumerate(names, 1)
    ]


@pytest.mark.parametrize(
    ("names", "groups", "verdicts"),
    [
        ("a", "", {"a": GO}),
        ("ab", "ab", {"a": GO, "b": GO}),
        ("ab", "", {"a": GO, "b": YIELD}),
        ("abc", "abc", {"a": GO, "b": GO, "c": GO}),
        ("abc", "ab", {"a": GO, "b": GO, "c": YIELD}),
        ("abc", "bc", {"a": YIELD, "b": GO, "c": GO}),
        ("abc", "", {"a": STAY, "b": STAY, "c": STAY}),
        ("abc", "ab bc", {"a": GO, "b": GO, "c": GO}),  # through another
        ("abcd", "ab cd", {"a": GO, "b": GO, "c": YIELD, "d": YIELD}),
        ("abcd", "ad bc", {"a": GO, "b": YIELD, "c": YIELD, "d": GO}),
        ("abcd", "cd", {"a": YIELD, "b": YIELD, "c": GO, "d": GO}),  # half, and no other group has it
        ("abcde", "ab cd", dict.fromkeys("abcde", STAY)),
        ("abcde", "abc de", {"a": GO, "b": GO, "c": GO, "d": YIELD, "e": YIELD}),
    ],
)
def test_who_goes_on_follows_the_table_of_groups(
    names: str, groups: str, verdicts: dict[str, Verdict]
) -> None:
    seats = _hearing(*groups.split(), names=names)
    assert {node: verdict(seats, node) for node in names} == verdicts


def test_hearing_goes_both_ways() -> None:
    """A node that others hear and that is deaf itself is in no group with them."""
    seats = [
        Seat("a", 1, frozenset()),
        Seat("b", 2, frozenset("ac")),
        Seat("c", 3, frozenset("ab")),
    ]
    assert [verdict(seats, node) for node in "abc"] == [YIELD, GO, GO]


def test_who_is_no_node_any_more_yields() -> None:
    assert verdict(_hearing("ab", names="ab"), "c") is YIELD
    assert verdict(_hearing(names="abc"), "d") is YIELD
    assert verdict([], "a") is YIELD
