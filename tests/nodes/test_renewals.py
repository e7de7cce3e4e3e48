"""What the age of a node's row tells: whether the node is sure of itself, and whether silent others are dead."""

import pytest

from actors.kernel.nodes.renewals import MISSED_SECONDS, ROW_SECONDS, Renewals


class Play:
    """The renewals of one node, by a clock that a test moves; the database's clock goes with it."""

    def __init__(self) -> None:
        self.at = 100.0
        self.database_ahead = 0.0
        self.renewals = Renewals("a", lambda: self.at)

    def renew(self, *, after: float = 1.0, takes: float = 0.0) -> None:
        """Renew the row, some seconds after the last renewal began."""
        self.at += after - takes
        began_at = self.renewals.begin()
        self.at += takes
        self.renewals.end(began_at, self.at + self.database_ahead)

    def renew_for(self, seconds: float) -> None:
        for _ in range(round(seconds)):
            self.renew()


@pytest.fixture
def play() -> Play:
    """A node whose renewals are sound."""
    play = Play()
    play.renew_for(ROW_SECONDS)
    return play


def test_a_node_is_sure_until_its_row_may_have_run_out(play: Play) -> None:
    play.at += ROW_SECONDS - 0.1
    assert play.renewals.is_sure()
    play.at += 0.1
    assert not play.renewals.is_sure()
    assert play.renewals.silent_seconds == pytest.approx(ROW_SECONDS)


def test_a_row_lasts_from_the_beginning_of_its_renewal(play: Play) -> None:
    play.renew(takes=0.5)
    assert play.renewals.silent_seconds == pytest.approx(0.5)


def test_who_has_just_begun_judges_nobody() -> None:
    play = Play()
    play.renew_for(ROW_SECONDS - 1)
    assert not play.renewals.are_sound
    play.renew()
    assert play.renewals.are_sound


def test_one_renewal_that_is_missed_is_none_of_the_others_deaths(play: Play) -> None:
    play.renew(after=MISSED_SECONDS)
    assert play.renewals.are_sound


@pytest.mark.parametrize("takes", [0.0, 2.0], ids=["away", "stands still"])
def test_after_a_database_that_was_away_the_others_may_renew_first(play: Play, takes: float) -> None:
    play.renew(after=MISSED_SECONDS + 0.1, takes=takes)
    assert not play.renewals.are_sound
    play.renew_for(ROW_SECONDS + takes)
    assert play.renewals.are_sound


@pytest.mark.parametrize(
    ("set_seconds", "are_sound"), [(MISSED_SECONDS, True), (600.0, False), (-600.0, True)]
)
def test_a_database_clock_that_was_set_forward_has_killed_nobody(
    play: Play, set_seconds: float, are_sound: bool
) -> None:
    play.database_ahead += set_seconds
    play.renew()
    assert play.renewals.are_sound is are_sound
    play.renew_for(ROW_SECONDS)
    assert play.renewals.are_sound
