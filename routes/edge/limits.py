"""Rate limits: token buckets with exact refill, one table of policies (contract §3).

A bucket counts in whole numbers (one token is `window_ms` units, a millisecond refills `quota` units), so
that no rounding gives or takes a token in the course of a day. Buckets live in this process alone, are
bounded in number, and are shared by REST and sockets, so that `chat-send` counts a message either way.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from routes.edge.principal import Access

MAX_BUCKETS = 100_000
"""About 20 MB; the least recently used goes, which at worst gives an idle caller a full bucket early."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One class of requests.

    Args:
        name: in the RateLimit fields.
        quota: tokens in a full bucket, and refilled within one window.
        window_seconds: how long an empty bucket takes to fill.
        by_address: counted by client address even where the caller is known.
        quota_node: the permission node whose value replaces `quota` for one user, or None.
    """

    name: str
    quota: int
    window_seconds: int
    by_address: bool = False
    quota_node: str | None = None


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("user-read", 300, 60),
        Policy("user-write", 120, 60),
        Policy("chat-send", 30, 10, quota_node="social:chat.send"),
        Policy("friend-request", 20, 3600),
        Policy("upload", 20, 60),
        Policy("register", 10, 3600, by_address=True),
        Policy("public", 120, 60, by_address=True),
        Policy("server", 1200, 60),
        Policy("status-push", 2, 1),
        Policy("live-command", 120, 60),
        # Of one user to one other; beyond the contract's table.
        Policy("invite", 10, 600),
        # Each asks a resolver for a name of the caller's choice; beyond the contract's table.
        Policy("domain-verify", 30, 60),
        # Probes and scrapers, often many from one address; beyond the contract's table, far above their rate.
        Policy("operations", 1200, 60, by_address=True),
        # Failures alone: each wrong credential of a game server costs a look into the database.
        Policy("bad-credentials", 60, 60, by_address=True),
    )
}
"""{name: policy}, contract §3."""


class Decision(msgspec.Struct, frozen=True, gc=False):
    """What a bucket said.

    Args:
        policy: the policy that was asked.
        quota: its quota for this caller.
        allowed: whether a token was taken.
        remaining: whole tokens left.
        reset_seconds: until the bucket is full again.
        retry_after_ms: until the next token, 0 when allowed.
    """

    policy: Policy
    quota: int
    allowed: bool
    remaining: int
    reset_seconds: int
    retry_after_ms: int

    def fields(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
        """The response headers `RateLimit-Policy` and `RateLimit` (IETF draft, structured fields)."""
        policy, name = _policy_field(self.policy, self.quota)
        return policy, (b"ratelimit", b'"%b";r=%d;t=%d' % (name, self.remaining, self.reset_seconds))


@lru_cache(maxsize=1024)
def _policy_field(policy: Policy, quota: int) -> tuple[tuple[bytes, bytes], bytes]:
    """The field `RateLimit-Policy`, and the policy's name: the same for nearly everybody."""
    name = policy.name.encode()
    return (b"ratelimit-policy", b'"%b";q=%d;w=%d' % (name, quota, policy.window_seconds)), name


class Bucket:
    """One caller's tokens; `level` is in units of 1/window_ms of a token, at `at_ms`."""

    __slots__ = ("at_ms", "level")

    def __init__(self, level: int, at_ms: int) -> None:
        self.level = level
        self.at_ms = at_ms


class Limits:
    """All buckets of this process.

    Args:
        enabled: False lifts every rate (`PARTYLINE_RATE_LIMITS=off`, for load tests).
        max_buckets: how many are kept.
    """

    def __init__(self, *, enabled: bool = True, max_buckets: int = MAX_BUCKETS) -> None:
        self.enabled = enabled
        self._max_buckets = max_buckets
        # {(policy's name, caller and suffix): Bucket}, least recently used first
        self._buckets: OrderedDict[tuple[str, str], Bucket] = OrderedDict()

    def take(self, policy: Policy, key: str, now_ms: int, *, override: float | None = None) -> Decision:
        """Take one token, if there is one.

        Args:
            policy: one of `POLICIES`.
            key: whom it is counted for.
            now_ms: epoch milliseconds, from the injected clock.
            override: this caller's own quota, from a quota node; below 1 nothing passes.
        """
        quota = policy.quota if override is None else max(0, int(override))
        window_ms = policy.window_seconds * 1000
        full = quota * window_ms
        if not self.enabled:
            return Decision(policy, quota, True, quota, 0, 0)
        bucket = self._bucket((policy.name, key), full, now_ms)
        bucket.level = min(full, bucket.level + (now_ms - bucket.at_ms) * quota)
        bucket.at_ms = now_ms
        allowed = bucket.level >= window_ms
        if allowed:
            bucket.level -= window_ms
        if quota == 0:
            return Decision(policy, 0, False, 0, policy.window_seconds, window_ms)
        return Decision(
            policy,
            quota,
            allowed,
            bucket.level // window_ms,
            -(-(full - bucket.level) // (quota * 1000)),
            0 if allowed else -(-(window_ms - bucket.level) // quota),
        )

    def refusal(self, policy: Policy, key: str, now_ms: int) -> Decision | None:
        """What `take` would refuse with; None while it would not. Takes nothing."""
        bucket = self._buckets.get((policy.name, key)) if self.enabled else None
        window_ms = policy.window_seconds * 1000
        if bucket is None or bucket.level + (now_ms - bucket.at_ms) * policy.quota >= window_ms:
            return None
        return self.take(policy, key, now_ms)

    def take_for(
        self, policy: Policy, caller: str, now_ms: int, *, suffix: str = "", access: Access | None = None
    ) -> Decision:
        """`take`, for a caller whose rights may hold a quota of their own.

        Args:
            policy: one of `POLICIES`.
            caller: the principal's key, or a client address (`address.py`: `rate_key`).
            now_ms: epoch milliseconds.
            suffix: what else is counted by, say a conversation's id.
            access: the caller's rights, asked for the policy's quota node.
        """
        override = None
        if policy.quota_node is not None and access is not None:
            quantity = access.quota(policy.quota_node)
            override = None if quantity is None else quantity.value
        return self.take(policy, f"{caller}/{suffix}" if suffix else caller, now_ms, override=override)

    def _bucket(self, key: tuple[str, str], full: int, now_ms: int) -> Bucket:
        bucket = self._buckets.get(key)
        if bucket is None:
            if len(self._buckets) >= self._max_buckets:
                self._buckets.popitem(last=False)
            bucket = self._buckets[key] = Bucket(full, now_ms)
        else:
            self._buckets.move_to_end(key)
        return bucket

    def __len__(self) -> int:
        """How many buckets are kept."""
        return len(self._buckets)
