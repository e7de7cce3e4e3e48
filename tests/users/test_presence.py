"""Rules: who is online (contract §5)."""

import pytest

from actors.users.presence import GRACE_MS, Presence

ANN, BEN = "ann", "ben"


class TestClock:
    __test__ = False

    def __init__(self):
        self.at_ms = 1_000

    def now_ms(self):
        return self.at_ms


@pytest.fixture
def clock():
    return TestClock()


@pytest.fixture
def told():
    return []


@pytest.fixture
def presence(clock, told):
    presence = Presence(clock)
    presence.on_change(lambda user_id, online: told.append((user_id, online)))
    return presence


def test_online_while_a_socket_is_open(presence, clock, told):
    assert not presence.is_online(ANN)
    presence.opened(ANN)
    presence.opened(ANN)
    presence.closed(ANN)
    clock.at_ms += 10 * GRACE_MS
    presence.tick()
    assert presence.is_online(ANN)
    assert presence.online_since_ms(ANN) == 1_000
    assert told == [(ANN, True)]


def test_the_grace_is_ten_seconds(presence, clock, told):
    presence.opened(ANN)
    presence.closed(ANN)
    clock.at_ms += GRACE_MS - 1
    presence.tick()
    assert presence.is_online(ANN)
    clock.at_ms += 1
    assert not presence.is_online(ANN)
    assert presence.online_since_ms(ANN) is None
    presence.tick()
    assert told == [(ANN, True), (ANN, False)]


def test_those_among_some_who_are_online(presence, clock):
    """Asked for many at once, it says what it says for each."""
    for user in (BEN, ANN, "cat"):
        presence.opened(user)
    assert presence.online_among((ANN, "dan", BEN)) == [ANN, BEN]
    presence.closed(BEN)
    clock.at_ms += GRACE_MS - 1
    presence.closed("cat")
    for _ in range(2):
        everybody = (BEN, "cat", ANN, "dan")
        assert presence.online_among(everybody) == [id for id in everybody if presence.is_online(id)]
        clock.at_ms += 1
    assert presence.online_among(everybody) == ["cat", ANN]


@pytest.mark.parametrize("at_ms", [1_000, 99_000])
def test_who_left_another_node_goes_in_time_behind_whoever_is_still_there(presence, clock, told, at_ms):
    """Its clock tells of the past, or of the future, which prolongs nothing."""
    clock.at_ms = 2_000
    presence.opened(ANN)
    presence.opened(BEN)
    presence.closed(ANN)
    presence.closed(BEN, at_ms)
    told.clear()
    clock.at_ms = min(at_ms, 2_000) + GRACE_MS
    presence.tick()
    assert (BEN, False) in told
    assert presence.offline_since_ms(BEN) == clock.at_ms
    clock.at_ms = 2_000 + GRACE_MS
    presence.tick()
    assert sorted(told) == [(ANN, False), (BEN, False)]


def test_coming_back_within_the_grace_tells_nobody(presence, clock, told):
    presence.opened(ANN)
    presence.closed(ANN)
    clock.at_ms += GRACE_MS // 2
    presence.opened(ANN)
    clock.at_ms += 2 * GRACE_MS
    presence.tick()
    assert presence.online_since_ms(ANN) == 1_000
    assert told == [(ANN, True)]


def test_those_who_left_first_go_first(presence, clock, told):
    for user in (ANN, BEN):
        presence.opened(user)
    presence.closed(ANN)
    clock.at_ms += 5
    presence.closed(BEN)
    clock.at_ms += GRACE_MS - 5
    presence.tick()
    assert told[2:] == [(ANN, False)]
    assert presence.statistics() == 0


def test_the_time_of_going_is_remembered(presence, clock):
    assert presence.offline_since_ms(ANN) is None
    presence.opened(ANN)
    presence.closed(ANN)
    clock.at_ms += 2 * GRACE_MS
    presence.tick()
    assert presence.offline_since_ms(ANN) == clock.at_ms - GRACE_MS
    presence.opened(ANN)
    assert presence.offline_since_ms(ANN) is None


def test_closing_what_was_not_open_is_a_fault(presence):
    with pytest.raises(KeyError):
        presence.closed(ANN)
