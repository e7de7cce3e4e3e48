"""Time on servers falls into days, to the millisecond."""

import pytest

from actors.quests.day import SESSION_MAX_MS, day_of, ends_at_ms, stretches
from actors.time import DAY_MS
from persistence.quests.visits import Visit

DAY = 20_000
MIDNIGHT = DAY * DAY_MS


@pytest.mark.parametrize(("at_ms", "day"), [(-1, DAY - 1), (0, DAY), (DAY_MS - 1, DAY), (DAY_MS, DAY + 1)])
def test_a_day_ends_at_midnight(at_ms: int, day: int):
    assert day_of(MIDNIGHT + at_ms) == day
    assert ends_at_ms(DAY) == MIDNIGHT + DAY_MS


@pytest.mark.parametrize(
    ("began", "now", "expires", "expected"),
    [
        (0, 5, 100, [(DAY, 0, 5)]),
        (5, 5, 100, []),
        (0, 200, 100, [(DAY, 0, 100)]),
        (-10, -1, 100, [(DAY - 1, -10, -1)]),
        (-10, 0, 100, [(DAY - 1, -10, 0)]),
        (-10, 1, 100, [(DAY - 1, -10, 0), (DAY, 0, 1)]),
        (-1, 1, 100, [(DAY - 1, -1, 0), (DAY, 0, 1)]),
        (-DAY_MS - 5, 5, 2 * DAY_MS, [(DAY - 1, -DAY_MS, -DAY_MS + SESSION_MAX_MS - 5)]),
        (-2 * DAY_MS, 5, 2 * DAY_MS, []),
        (-SESSION_MAX_MS + 3, 5, DAY_MS, [(DAY - 1, -SESSION_MAX_MS + 3, 0), (DAY, 0, 3)]),
    ],
)
def test_a_session_is_cut_at_midnight_at_its_end_and_after_twelve_hours(
    began: int, now: int, expires: int, expected: list[tuple[int, int, int]]
):
    visit = Visit("0" * 24, "s", "u", MIDNIGHT + began, MIDNIGHT + expires, own=False)
    found = [
        (one.day, one.begins_at_ms - MIDNIGHT, one.ends_at_ms - MIDNIGHT)
        for one in stretches([visit], MIDNIGHT + now)
    ]
    assert found == expected
