"""Quests are drawn: the same for the same user and day, three different kinds, and other kinds again."""

from hypothesis import given
from hypothesis import strategies as st

from actors.quests.drawing import QUESTS_A_DAY, draw_again, draw_first
from actors.quests.table import PROGRESS, QUESTS

USERS = st.uuids().map(str)
DAYS = st.integers(0, 100_000)


def test_all_kinds_have_a_progress_and_a_fair_reward():
    assert len(QUESTS) == 10
    assert {one.kind for one in QUESTS} == PROGRESS.keys()
    assert all(50 <= one.xp <= 200 for one in QUESTS)


@given(user_id=USERS, day=DAYS)
def test_a_day_has_three_kinds_and_always_the_same(user_id: str, day: int):
    quests, draws = draw_first(user_id, day)
    assert len({one.kind for one in quests}) == QUESTS_A_DAY == len(quests)
    assert draws >= QUESTS_A_DAY
    assert draw_first(user_id, day) == (quests, draws)


@given(user_id=USERS, day=DAYS, replaced=st.sets(st.integers(0, 2), min_size=1), rounds=st.integers(1, 4))
def test_other_quests_are_of_other_kinds(user_id: str, day: int, replaced: set[int], rounds: int):
    quests, draws = draw_first(user_id, day)
    for _ in range(rounds):
        kept = [one.kind for slot, one in enumerate(quests) if slot not in replaced]
        former = [quests[slot].kind for slot in sorted(replaced)]
        drawn, after = draw_again(user_id, day, draws, kept, former)
        assert after >= draws + len(replaced)
        assert all(one.kind != kind for one, kind in zip(drawn, former, strict=True))
        for slot, one in zip(sorted(replaced), drawn, strict=True):
            quests[slot] = one
        assert len({one.kind for one in quests}) == QUESTS_A_DAY
        draws = after


def test_every_quest_is_drawn_by_some_user():
    drawn = {one for day in range(200) for one in draw_first("u", day)[0]}
    assert drawn == set(QUESTS)
