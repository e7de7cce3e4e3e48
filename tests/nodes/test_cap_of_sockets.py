"""Ten live sockets a user, on all nodes together: whoever has most of them closes its oldest."""

from collections import deque
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes.edge.websocket.registry import MAX_PER_USER
from routes.users.online import closes


@pytest.mark.parametrize(
    ("own", "here", "there", "expected"),
    [
        ("a", 11, {}, True),
        ("a", 1, {"b": 10}, False),
        ("b", 10, {"a": 1}, True),
        ("a", 6, {"b": 6}, True),
        ("b", 6, {"a": 6}, False),
        ("b", 4, {"a": 3, "c": 4}, True),
        ("c", 4, {"a": 3, "b": 4}, False),
    ],
)
def test_one_node_closes(own: str, here: int, there: dict[str, int], expected: bool) -> None:
    assert closes(own, here, there) is expected


@given(st.lists(st.sampled_from("abc"), max_size=40), st.integers(0, 1_000))
def test_the_cap_holds_as_soon_as_all_have_heard(opened: list[str], seed: int) -> None:
    """News arrive late, in order between two nodes, and in any order otherwise."""
    rng = Random(seed)
    counts = {name: dict.fromkeys("abc", 0) for name in "abc"}  # {node: {node: sockets, as it knows}}
    links = {(one, other): deque[int]() for one in "abc" for other in "abc" if one != other}

    def change(node: str, by: int) -> None:
        counts[node][node] += by
        for (sender, _), waiting in links.items():
            if sender == node:
                waiting.append(counts[node][node])

    def bound(node: str) -> None:
        there = {other: count for other, count in counts[node].items() if other != node and count}
        here = counts[node][node]
        if here and here + sum(there.values()) > MAX_PER_USER and closes(node, here, there):
            change(node, -1)
            bound(node)

    def hear(sender: str, node: str) -> None:
        counts[node][sender] = links[sender, node].popleft()
        bound(node)

    for node in opened:
        change(node, 1)
        bound(node)
        for _ in range(rng.randrange(3)):
            if due := [link for link, waiting in links.items() if waiting]:
                hear(*rng.choice(due))
    while due := [link for link, waiting in links.items() if waiting]:
        hear(*rng.choice(due))
    left = sum(counts[name][name] for name in "abc")
    assert left <= MAX_PER_USER
    if len(opened) <= MAX_PER_USER:
        assert left == len(opened)
