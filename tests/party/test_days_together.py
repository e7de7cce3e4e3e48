"""Who shares a party on which day."""

from collections.abc import Sequence

from actors.party.days_together import TOLD_AT_ONCE, DaysTogether
from actors.party.memberships import Memberships
from actors.time import DAY_MS

NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


class Stage:
    """Memberships, and what is told of them."""

    def __init__(self) -> None:
        self.now_ms = NOON_MS
        self.told: list[tuple[frozenset[str], int]] = []
        self.memberships = Memberships(())
        self.days_together = DaysTogether(self.memberships, self.note, lambda: self.now_ms)

    def note(self, user_ids: Sequence[str], at_ms: int) -> None:
        self.told.append((frozenset(user_ids), at_ms))


def test_who_joins_is_in_company_with_all_who_are_there() -> None:
    stage = Stage()
    for user_id in ("ann", "ben", "cid"):
        stage.memberships.joined(user_id, "p")
    stage.memberships.left("ann", "p")
    assert len(stage.told) == 3
    assert set(stage.told) == {
        (frozenset(pair), NOON_MS) for pair in (("ann", "ben"), ("ann", "cid"), ("ben", "cid"))
    }


def test_members_who_become_friends_are_in_company() -> None:
    stage = Stage()
    for user_id, party_id in (("ann", "p"), ("ben", "p"), ("cid", "q")):
        stage.memberships.joined(user_id, party_id)
    stage.days_together.look()
    stage.told.clear()
    for one_id, other_id in (("ann", "cid"), ("ann", "dan"), ("dan", "eve"), ("ben", "ann")):
        stage.days_together.befriended(one_id, other_id)
    assert stage.told == [(frozenset({"ann", "ben"}), NOON_MS)]


def test_a_party_counts_once_on_every_day() -> None:
    stage = Stage()
    for user_id in ("ann", "ben"):
        stage.memberships.joined(user_id, "p")
    pair = frozenset({"ann", "ben"})
    for day in range(2):
        stage.told.clear()
        stage.now_ms = NOON_MS + day * DAY_MS
        for _ in range(3):
            stage.days_together.look()
        assert stage.told == [(pair, stage.now_ms)]


def test_after_midnight_parties_are_told_of_a_few_at_a_time() -> None:
    stage = Stage()
    for number in range(2 * TOLD_AT_ONCE + 1):
        stage.memberships.joined(f"user {number}", f"party {number}")
    seen = []
    for _ in range(4):
        stage.told.clear()
        stage.days_together.look()
        seen.append(len(stage.told))
    assert seen == [TOLD_AT_ONCE, TOLD_AT_ONCE, 1, 0]
