"""Rights with a duration that were bought one after the other: which of them move, and to where."""

import pytest
from msgspec.structs import replace

from actors.shop.entitling import moved_back, moved_forward
from persistence.shop.entitlements import Entitlement


@pytest.mark.parametrize(
    ("lasting", "freed", "expected"),
    [
        ([], (0, 30), []),
        # One after the other, and the first, the second or the last of them goes.
        ([(30, 60), (60, 90)], (0, 30), [(10, 40), (40, 70)]),
        ([(0, 30), (60, 90)], (30, 60), [(30, 60)]),
        ([(0, 30), (30, 60)], (60, 90), []),
        # What was bought while another was disputed began at once.
        ([(8, 38), (38, 68)], (0, 30), []),
        ([(0, 30), (38, 68), (68, 98)], (8, 38), [(30, 60), (60, 90)]),
        ([(38, 68)], (8, 38), [(10, 40)]),
        # Two that follow the same one.
        ([(30, 60), (30, 90), (90, 100)], (0, 30), [(10, 40), (10, 70), (70, 80)]),
        # What is over already has left nothing.
        ([(8, 38), (38, 40)], (0, 10), []),
        ([(8, 38), (38, 40)], (0, None), []),
    ],
)
def test_what_moves_forward(
    lasting: list[tuple[int, int]], freed: tuple[int, int | None], expected: list[tuple[int, int]]
) -> None:
    """At the tenth day; of other nodes nothing moves."""
    others = [_right("perk:a", 30, 60), _right("perk:z", 60, 90)]
    rights = [others[0], *(_right("perk:glow", *one) for one in lasting), others[1]]
    moved = moved_forward(rights, [_right("perk:glow", *freed)], 10)
    assert [(one.begins_at_ms, one.ends_at_ms) for one in moved] == expected
    assert {one.node for one in moved} <= {"perk:glow"}


@pytest.mark.parametrize(
    ("restored", "others", "expected"),
    [
        ((0, 30), [], []),
        # Bought in its place, and one more behind that.
        ((0, 30), [(8, 38), (38, 68)], [(30, 58), (58, 88)]),
        # What follows it anyway, or was over before.
        ((0, 30), [(30, 60)], []),
        ((0, 30), [(0, 9)], []),
        # Its time is over.
        ((0, 10), [(8, 38)], []),
        # It is yet to begin: what runs before it goes on behind it.
        ((30, 60), [(0, 30), (30, 60)], [(60, 90)]),
        ((30, 60), [(8, 38), (38, 68)], [(8, 68), (68, 98)]),
        # Two that began together, one of which ends with it.
        ((0, 30), [(8, 20), (8, 38)], [(30, 40), (30, 58)]),
        # Only what overlaps moves.
        ((0, 30), [(8, 12), (50, 80)], [(30, 32)]),
    ],
)
def test_what_moves_back(
    restored: tuple[int, int], others: list[tuple[int, int]], expected: list[tuple[int, int]]
) -> None:
    """At the tenth day; of other nodes nothing moves, and what is suspended keeps its place."""
    rights = [
        _right("perk:a", 8, 38),
        *sorted(
            [
                _right("perk:glow", *restored, of="restored"),
                *(_right("perk:glow", *one) for one in others),
                replace(_right("perk:glow", 9, 39), suspended=True),
            ],
            key=lambda one: one.begins_at_ms,
        ),
        _right("perk:z", 8, 38),
    ]
    moved = moved_back(rights, "restored", 10)
    assert [(one.begins_at_ms, one.ends_at_ms) for one in moved] == expected
    assert {one.node for one in moved} <= {"perk:glow"}


def _right(node: str, begins: int, ends: int | None, of: str = "p") -> Entitlement:
    return Entitlement(of, 0, "u", "product", node, None, None, begins, ends)
