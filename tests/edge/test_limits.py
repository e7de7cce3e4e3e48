"""Token buckets: exact refill, fields, quotas of one's own, bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes import rates
from routes.edge import policies
from routes.edge.buckets import MAX_SUFFIXES, OVERFLOW
from routes.edge.limits import Limits
from routes.edge.policies import Policy
from routes.edge.principal import Access
from routes.rates import CHAT_SEND as SEND
from routes.rates import POLICIES, REGISTER

NOW = 1_700_000_000_000


def test_every_rate_is_in_the_table() -> None:
    """One that stands below it would be a limit on each node by itself."""
    declared = [one for module in (policies, rates) for one in vars(module).values()]
    assert {one.name for one in declared if isinstance(one, Policy)} == POLICIES.keys()


def test_rates_are_those_of_the_contract() -> None:
    table = {name: (policy.quota, policy.window_seconds) for name, policy in POLICIES.items()}
    assert table == {
        "user-read": (300, 60),
        "user-write": (120, 60),
        "chat-send-all": (300, 60),
        "chat-send": (30, 10),
        "friend-request": (20, 3600),
        "upload": (20, 60),
        "article": (120, 240),
        "checkout": (10, 600),
        "voice-join": (20, 60),
        "webhook": (600, 60),
        "sign-in": (30, 60),
        "sign-in-link": (20, 3600),
        "register": (10, 3600),
        "claim-key": (20, 60),
        "public": (120, 60),
        "server": (1200, 60),
        "server-owned": (60_000, 60),
        "status-push": (2, 1),
        "live-command-all": (1200, 60),
        "live-command": (120, 60),
        "settings-write-all": (120, 60),
        "settings-write-owned": (600, 60),
        "settings-write": (60, 60),
        "live-frame": (600, 60),
        "http2-frame": (2400, 60),
        "invite": (10, 600),
        "domain-verify": (30, 60),
        "operations": (1200, 60),
        "pages": (3000, 60),
        "bad-credentials": (60, 60),
        "chat-bytes": (64 * 1024 * 1024, 86_400),
        "connect-bytes": (1024 * 1024 * 1024, 86_400),
        "kept-answers": (64 * 1024 * 1024, 86_400),
        "astray": (1200, 60),
    }


def test_what_is_done_already_is_spent_and_owed_beyond_what_there_is() -> None:
    limits, kept = Limits(), policies.KEPT_ANSWERS
    limits.spend(kept, "ann", NOW, kept.quota - 1)
    assert limits.refusal(kept, "ann", NOW) is None
    limits.spend(kept, "ann", NOW, 5_000_000)
    refused = limits.refusal(kept, "ann", NOW)
    assert refused is not None
    assert limits.refusal(kept, "bob", NOW) is None
    assert limits.refusal(kept, "ann", NOW + refused.retry_after_ms) is None
    off = Limits(enabled=False)
    off.spend(kept, "ann", NOW, 2 * kept.quota)
    assert off.refusal(kept, "ann", NOW) is None


def test_bytes_that_are_charged_late_stay_within_their_quota() -> None:
    """A token comes back in a millisecond, so that a bucket which was only emptied would let large things pass at the
    rate of requests."""
    limits, kept, size = Limits(), policies.KEPT_ANSWERS, 256 * 1024
    spent = 0
    for now_ms in range(NOW, NOW + 86_400_000, 500):
        if limits.refusal(kept, "ann", now_ms) is None:
            limits.spend(kept, "ann", now_ms, size)
            spent += size
    assert spent <= 2 * kept.quota + size  # a full bucket, and what comes back in a day


def test_a_price_is_taken_where_there_is_a_token_and_owed_beyond_it() -> None:
    limits, kept = Limits(), policies.KEPT_ANSWERS
    assert limits.charge(kept, "ann", NOW, 0) is None
    assert limits.charge(kept, "ann", NOW, 2 * kept.quota) is None
    refused = limits.charge(kept, "ann", NOW, 1)
    assert refused is not None
    assert refused.retry_after_ms == kept.window_seconds * 1000 + 2  # what is owed, and one token more
    assert limits.charge(kept, "ann", NOW, 0) is None
    assert limits.charge(kept, "bob", NOW, 1) is None
    assert limits.charge(kept, "ann", NOW + refused.retry_after_ms, 1) is None


def test_full_bucket_then_exact_refill() -> None:
    limits = Limits()
    for left in range(29, -1, -1):
        decision = limits.take(SEND, "ann", NOW)
        assert (decision.allowed, decision.remaining) == (True, left)
    refused = limits.take(SEND, "ann", NOW)
    assert (refused.allowed, refused.retry_after_ms) == (
        False,
        334,
    )  # a third of a second a token, rounded up
    assert not limits.take(SEND, "ann", NOW + 333).allowed
    assert limits.take(SEND, "ann", NOW + 334).allowed
    assert not limits.take(SEND, "ann", NOW + 600).allowed
    assert limits.take(SEND, "ann", NOW + 667).allowed
    assert limits.take(SEND, "bob", NOW).remaining == 29


def test_ratelimit_fields_say_quota_window_and_rest() -> None:
    assert Limits().take(SEND, "ann", NOW).fields() == (
        (b"ratelimit-policy", b'"chat-send";q=30;w=10'),
        (b"ratelimit", b'"chat-send";r=29;t=1'),
    )


class Rights:
    is_moderator = is_super_admin = False

    def __init__(self, **values: float) -> None:
        self.values = values

    def allows(self, node: str) -> bool:
        return False

    def quota(self, node: str) -> "Quantity | None":
        return Quantity(self.values[node]) if node in self.values else None


class Quantity:
    def __init__(self, value: float) -> None:
        self.value = value


def test_quota_node_replaces_the_quota() -> None:
    limits = Limits()
    few = Rights(**{"social:chat.send": 2})
    taken = [limits.take_for(SEND, "ann", NOW, suffix="c1", access=few).allowed for _ in range(3)]
    assert taken == [True, True, False]
    assert limits.take_for(SEND, "ann", NOW, suffix="c2", access=few).allowed
    assert limits.take_for(SEND, "bob", NOW, suffix="c1", access=Rights()).quota == 30
    nothing = limits.take_for(SEND, "cid", NOW, access=Rights(**{"social:chat.send": 0}))
    assert (nothing.allowed, nothing.retry_after_ms) == (False, 10_000)


def test_a_quota_without_end_is_sent_as_a_number_that_can_be_read() -> None:
    """An integer of a structured field has 15 digits at most (RFC 9651 §3.3.1); a quantity may have 16."""
    endless = Rights(**{"social:chat.send": 9_007_199_254_740_991})
    policy, state = Limits().take_for(SEND, "ann", NOW, access=endless).fields()
    assert policy == (b"ratelimit-policy", b'"chat-send";q=999999999999999;w=10')
    assert state == (b"ratelimit", b'"chat-send";r=999999999999998;t=1')


def test_off_lifts_every_rate() -> None:
    limits = Limits(enabled=False)
    assert all(limits.take(SEND, "ann", NOW).allowed for _ in range(1000))
    assert len(limits) == 0


def drain(limits: Limits, caller: str, *, suffix: str = "", now_ms: int = NOW) -> None:
    while limits.take_for(SEND, caller, now_ms, suffix=suffix).allowed:
        pass


def test_no_drained_bucket_is_filled_by_others_who_fill_the_table() -> None:
    limits = Limits(max_buckets=50)
    drain(limits, "ann")
    for number in range(1000):
        limits.take(SEND, f"stranger {number}", NOW + number // 10)
    assert limits.refusal(SEND, "ann", NOW + 100) is not None
    assert len(limits) <= 50 + OVERFLOW
    assert limits.overflows == 1000 - 49


def test_no_policy_is_emptied_by_the_flood_of_another() -> None:
    limits, register = Limits(max_buckets=50), REGISTER
    while limits.take(register, "192.0.2.1", NOW).allowed:
        pass
    for number in range(1000):
        limits.take(SEND, f"stranger {number}", NOW)
    assert limits.refusal(register, "192.0.2.1", NOW) is not None
    assert limits.overflows == 1000 - 50


def test_full_buckets_make_room() -> None:
    limits = Limits(max_buckets=50)
    for number in range(1000):
        assert limits.take(SEND, f"guest {number}", NOW + number * 1000).remaining == 29
    assert (limits.overflows, len(limits)) == (0, 10)  # those of the last ten seconds


def test_newcomers_to_a_full_table_are_limited_together() -> None:
    limits = Limits(max_buckets=1)
    limits.take(SEND, "ann", NOW)
    allowed = sum(limits.take(SEND, f"new {number}", NOW).allowed for number in range(100_000))
    assert allowed <= 30 * OVERFLOW


def test_one_caller_has_few_buckets_however_many_things_they_name() -> None:
    limits = Limits()
    for number in range(10 * MAX_SUFFIXES):
        limits.take_for(SEND, "ann", NOW, suffix=f"c{number}")
    assert len(limits) == MAX_SUFFIXES + 1
    assert limits.take_for(SEND, "bob", NOW, suffix="c1").remaining == 29
    # What was not used for a window is full again, and makes room for others of theirs.
    assert limits.take_for(SEND, "ann", NOW + 10_000, suffix="new").remaining == 29


def held_up_ms(
    limits: Limits, caller: str, now_ms: int = NOW, *, suffix: str = "", access: Access | None = None
) -> int:
    refusal = limits.hold_up(SEND, caller, now_ms, suffix=suffix, access=access)
    return 0 if refusal is None else refusal.retry_after_ms


def test_who_sends_to_many_things_is_held_up_in_all() -> None:
    limits = Limits()
    passed = [held_up_ms(limits, "ann", suffix=f"c{number}") for number in range(301)]
    assert passed == [0] * 300 + [200]
    assert len(limits) == 1
    assert held_up_ms(limits, "bob") == 0
    assert held_up_ms(limits, "ann", NOW + 200) == 0
    more = Rights(**{"social:chat.send": 90})
    assert [held_up_ms(limits, "bot", access=more) for _ in range(901)] == [0] * 900 + [67]
    assert held_up_ms(Limits(enabled=False), "ann") == 0


def test_a_drained_thing_takes_nothing_from_the_others() -> None:
    limits = Limits()
    drain(limits, "ann", suffix="c1")
    assert {held_up_ms(limits, "ann", suffix="c1") for _ in range(1000)} == {334}
    assert held_up_ms(limits, "ann", suffix="c2") == 0


def test_a_meter_is_in_no_table() -> None:
    limits = Limits()
    meter = limits.meter(policies.LIVE_FRAME)
    assert [meter.take(NOW, 300), meter.take(NOW, 300), meter.take(NOW, 1)] == [0, 0, 100]
    assert [meter.take(NOW + 99), meter.take(NOW + 100)] == [1, 0]
    assert len(limits) == 0


@given(
    st.integers(1, 50),
    st.integers(1, 60),
    st.lists(st.integers(0, 5000), min_size=1, max_size=200),
)
def test_never_more_than_burst_plus_refill(quota: int, window_seconds: int, gaps: list[int]) -> None:
    limits, policy = Limits(), Policy("p", quota, window_seconds)
    now, passed = NOW, 0
    for gap in gaps:
        now += gap
        decision = limits.take(policy, "ann", now)
        passed += decision.allowed
        assert 0 <= decision.remaining <= quota
        if not decision.allowed:
            assert decision.retry_after_ms > 0
    assert passed <= quota + (now - NOW) * quota / (window_seconds * 1000)


@pytest.mark.parametrize("backwards_ms", [1, 60_000])
def test_retry_after_is_enough(backwards_ms: int) -> None:
    limits = Limits()
    while (decision := limits.take(SEND, "ann", NOW)).allowed:
        pass
    assert limits.take(SEND, "ann", NOW + decision.retry_after_ms).allowed
