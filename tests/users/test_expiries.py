"""Rules: of whom it is told that their rights have ended, and how much is kept for it."""

from hypothesis import given
from hypothesis import strategies as st

from actors.users.expiries import Expiries
from tests.users.memory import ANN, BEN

CYD = "00000000-0000-4000-8000-00000000000c"


def test_a_user_who_is_resolved_again_and_again_is_one_entry():
    ends = Expiries(max_users=2)
    for _ in range(1_000):
        ends.note(ANN, 10, 0)
    assert len(ends) == 1
    assert list(ends.due(10)) == [ANN]
    assert list(ends.due(10)) == []
    assert len(ends) == 0


def test_ends_that_come_ever_nearer_take_no_more_room():
    ends = Expiries(max_users=2)
    for at_ms in range(1_000, 10, -1):
        ends.note(ANN, at_ms, 0)
        ends.note(BEN, at_ms + 5, 0)
        assert len(ends) <= 4
    assert list(ends.due(11)) == [ANN]
    assert list(ends.due(15)) == []
    assert list(ends.due(2_000)) == [BEN]
    assert len(ends) == 0


def test_rights_that_no_longer_end_are_not_told_of_and_leave_room():
    ends = Expiries(max_users=1)
    ends.note(ANN, 10, 0)
    ends.note(BEN, 10, 0)  # there is no room
    ends.note(ANN, None, 0)
    assert len(ends) == 0
    ends.note(CYD, 10, 0)
    assert list(ends.due(10)) == [CYD]


NOTES = st.tuples(st.sampled_from([ANN, BEN, CYD]), st.none() | st.integers(1, 6))
STEPS = st.lists(NOTES | st.integers(0, 4) | st.just("due"), max_size=60)


@given(STEPS)
def test_whoever_has_an_end_that_came_is_told_of_once(steps):
    """A plain list of ends says the same, whatever was noted, and in whatever order."""
    ends, now_ms = Expiries(max_users=3), 0
    noted, passed = {}, set()
    for step in steps:
        if isinstance(step, tuple):
            user_id, in_ms = step
            noted[user_id] = None if in_ms is None else now_ms + in_ms
            ends.note(user_id, noted[user_id], now_ms)
        elif step == "due":
            assert sorted(ends.due(now_ms)) == sorted(passed)
            passed.clear()
        else:
            now_ms += step
            over = {user_id for user_id, at_ms in noted.items() if at_ms is not None and at_ms <= now_ms}
            passed |= over
            noted |= dict.fromkeys(over)
        assert len(ends) <= 2 * 3
