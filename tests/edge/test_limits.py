"""Token buckets: exact refill, fields, quotas of one's own, bounded memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routes.edge.limits import POLICIES, Limits, Policy

SEND = POLICIES["chat-send"]
NOW = 1_700_000_000_000


def test_contract_table() -> None:
    table = {name: (policy.quota, policy.window_seconds) for name, policy in POLICIES.items()}
    assert table == {
        "user-read": (300, 60),
        "user-write": (120, 60),
        "chat-send": (30, 10),
        "friend-request": (20, 3600),
        "upload": (20, 60),
        "register": (10, 3600),
        "claim-key": (20, 60),
        "public": (120, 60),
        "server": (1200, 60),
        "status-push": (2, 1),
        "live-command": (120, 60),
        "settings-write": (60, 60),
        "domain-verify": (30, 60),
        "operations": (1200, 60),
        "bad-credentials": (60, 60),
    }


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


def test_fields() -> None:
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


def test_off_lifts_every_rate() -> None:
    limits = Limits(enabled=False)
    assert all(limits.take(SEND, "ann", NOW).allowed for _ in range(1000))
    assert len(limits) == 0


def test_memory_is_bounded() -> None:
    limits = Limits(max_buckets=3)
    for name in ("a", "b", "c", "a", "d"):
        limits.take(SEND, name, NOW)
    assert len(limits) == 3
    assert limits.take(SEND, "a", NOW).remaining == 27  # used lately, so it was kept
    assert limits.take(SEND, "b", NOW).remaining == 29


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
            assert not Limits().take(policy, "ann", now, override=0).allowed
            assert decision.retry_after_ms > 0
    assert passed <= quota + (now - NOW) * quota / (window_seconds * 1000)


@pytest.mark.parametrize("backwards_ms", [1, 60_000])
def test_retry_after_is_enough(backwards_ms: int) -> None:
    limits = Limits()
    while (decision := limits.take(SEND, "ann", NOW)).allowed:
        pass
    assert limits.take(SEND, "ann", NOW + decision.retry_after_ms).allowed
