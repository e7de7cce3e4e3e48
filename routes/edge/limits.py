"""Rate limits: token buckets with exact refill, one table of policies (contract §3).

A bucket counts in whole numbers (one token is `window_ms` units, a millisecond refills `quota` units), so
that no rounding gives or takes a token in the course of a day. Buckets live in this process alone, are
bounded in number (`buckets.py`), and are shared by REST and sockets, so that `chat-send` counts a message either way.

What is counted for one thing each, such as `chat-send` for one conversation, has an outer policy that counts for all
of them together: without it, whoever has many things has many limits.
"""

from dataclasses import dataclass
from functools import lru_cache

import msgspec

from routes.edge.buckets import MAX_BUCKETS, Bucket, Buckets
from routes.edge.principal import Access


@dataclass(frozen=True, slots=True)
class Policy:
    """One class of requests.

    Args:
        name: in the RateLimit fields.
        quota: tokens in a full bucket, and refilled within one window.
        window_seconds: how long an empty bucket takes to fill.
        by_address: counted by client address even where the caller is known.
        quota_node: the permission node whose value replaces `quota` for one user, or None.
        outer: the policy that counts the same calls for the caller alone, whatever they are about; or None.
    """

    name: str
    quota: int
    window_seconds: int
    by_address: bool = False
    quota_node: str | None = None
    outer: "Policy | None" = None

    def quota_of(self, access: Access | None) -> int:
        """The quota of a caller.

        Args:
            access: their rights, asked for the quota node.
        """
        if self.quota_node is None or access is None:
            return self.quota
        quantity = access.quota(self.quota_node)
        return self.quota if quantity is None else max(0, int(quantity.value))

    def outer_quota_of(self, quota: int) -> int:
        """The quota of the outer policy for whoever has this one of ours: as much larger as ours is.

        Raises:
            ValueError: the policy has no outer one.
        """
        if self.outer is None:
            raise ValueError(f"{self.name} has no outer policy")
        return max(self.outer.quota, -(-self.outer.quota * quota // self.quota))


_ALL_CHAT = Policy("chat-send-all", 300, 60)
"""All conversations of one sender together; beyond the contract's table."""

_ALL_LIVE = Policy("live-command-all", 1200, 60)
"""All sockets of one user, those that are closed already too; beyond the contract's table."""

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("user-read", 300, 60),
        Policy("user-write", 120, 60),
        _ALL_CHAT,
        Policy("chat-send", 30, 10, quota_node="social:chat.send", outer=_ALL_CHAT),
        Policy("friend-request", 20, 3600),
        Policy("upload", 20, 60),
        Policy("register", 10, 3600, by_address=True),
        # Each is a durable write for somebody whom nobody knows; beyond the contract's table.
        Policy("claim-key", 20, 60),
        Policy("public", 120, 60, by_address=True),
        Policy("server", 1200, 60),
        Policy("status-push", 2, 1),
        # Each writes a version of up to 64 KiB, and is told to all who look; beyond the contract's table.
        Policy("settings-write", 60, 60),
        _ALL_LIVE,
        Policy("live-command", 120, 60, outer=_ALL_LIVE),
        # What is no message, on one socket: pings, pongs and fragments; beyond the contract's table.
        Policy("live-frame", 600, 60),
        # Of one user to one other; beyond the contract's table.
        Policy("invite", 10, 600),
        # Each asks a resolver for a name of the caller's choice; beyond the contract's table.
        Policy("domain-verify", 30, 60),
        # Probes and scrapers, often many from one address; beyond the contract's table, far above their rate.
        Policy("operations", 1200, 60, by_address=True),
        # Wrong credentials alone: each costs a signature, or a look into the database.
        Policy("bad-credentials", 60, 60, by_address=True),
        # Bytes of answers that are kept for a day (`pipeline/idempotency.py`), without the first KiB of each.
        Policy("kept-answers", 64 * 1024 * 1024, 86_400),
        # What no other policy counts because it got nowhere: unknown routes and methods, OPTIONS, requests without
        # credentials or with expired ones, upgrades that are refused before anybody is asked.
        Policy("astray", 1200, 60, by_address=True),
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


class Limits:
    """All buckets of this process.

    Args:
        enabled: False lifts every rate (`PARTYLINE_RATE_LIMITS=off`, for load tests).
        max_buckets: how many of one policy are kept.
    """

    def __init__(self, *, enabled: bool = True, max_buckets: int = MAX_BUCKETS) -> None:
        self.enabled = enabled
        # Each policy by itself: those who fill one table leave the others as they are.
        self._buckets = {
            policy.name: Buckets(policy.window_seconds * 1000, max_buckets) for policy in POLICIES.values()
        }
        self._max_buckets = max_buckets

    def take(self, policy: Policy, key: str, now_ms: int, *, override: float | None = None) -> Decision:
        """Take one token, if there is one.

        Args:
            policy: what is counted.
            key: whom it is counted for.
            now_ms: epoch milliseconds, from the injected clock.
            override: this caller's own quota, from a quota node; below 1 nothing passes.
        """
        quota = policy.quota if override is None else max(0, int(override))
        return self._take(policy, key, now_ms, suffix="", quota=quota)

    def take_for(
        self, policy: Policy, caller: str, now_ms: int, *, suffix: str = "", access: Access | None = None
    ) -> Decision:
        """`take`, for a caller whose rights may hold a quota of their own.

        Args:
            policy: what is counted.
            caller: the principal's key, or a client address (`address.py`: `rate_key`).
            now_ms: epoch milliseconds.
            suffix: what else is counted by, say a conversation's id.
            access: the caller's rights, asked for the policy's quota node.
        """
        return self._take(policy, caller, now_ms, suffix=suffix, quota=policy.quota_of(access))

    def hold_up(
        self, policy: Policy, caller: str, now_ms: int, *, suffix: str = "", access: Access | None = None
    ) -> Decision | None:
        """What counts by more than the caller, before it is known whether that other thing is theirs: take one token
        of the outer policy, unless a bucket of that thing refuses already. Makes no bucket of it.

        Args:
            policy: has an outer one.
            caller, now_ms, suffix, access: as for `take_for`.

        Returns:
            What refuses; None where the caller may go on.
        """
        outer = policy.outer
        if outer is None or not self.enabled:
            return None
        quota = policy.quota if access is None else policy.quota_of(access)
        if suffix:
            bucket = self._buckets[policy.name].known_suffix(caller, suffix)
            window_ms = policy.window_seconds * 1000
            if bucket is not None and bucket.level + (now_ms - bucket.at_ms) * quota < window_ms:
                return self._take(policy, caller, now_ms, suffix=suffix, quota=quota)
        quota = policy.outer_quota_of(quota) if quota != policy.quota else outer.quota
        window_ms = outer.window_seconds * 1000
        bucket = self._buckets[outer.name].of(caller, quota * window_ms, now_ms)
        if bucket.take(quota, window_ms, now_ms):
            return None
        return _decision(outer, quota, bucket, False)

    def refusal(self, policy: Policy, caller: str, now_ms: int) -> Decision | None:
        """What `take` would refuse with; None while it would not. Takes nothing, and keeps no bucket for it.

        Args:
            policy, caller, now_ms: as for `take`.
        """
        bucket = self._buckets_of(policy).known(caller) if self.enabled else None
        window_ms = policy.window_seconds * 1000
        if bucket is None or bucket.level + (now_ms - bucket.at_ms) * policy.quota >= window_ms:
            return None
        return self.take(policy, caller, now_ms)

    def spend(self, policy: Policy, caller: str, now_ms: int, tokens: int) -> None:
        """Take tokens for what is done already; where there are too few, all.

        Args:
            policy, caller, now_ms: as for `take`.
            tokens: at least 1.
        """
        if not self.enabled:
            return
        window_ms = policy.window_seconds * 1000
        bucket = self._buckets_of(policy).of(caller, policy.quota * window_ms, now_ms)
        if not bucket.take(policy.quota, window_ms, now_ms, tokens):
            bucket.level = 0

    def meter(self, policy: Policy) -> "Meter":
        """A bucket that belongs to whoever holds it, such as one socket, and is in no table."""
        return Meter(policy, enabled=self.enabled)

    def __len__(self) -> int:
        """How many buckets are kept."""
        return sum(map(len, self._buckets.values()))

    @property
    def overflows(self) -> int:
        """How often a caller found the table full, and shared a bucket with others."""
        return sum(buckets.overflows for buckets in self._buckets.values())

    def _take(self, policy: Policy, caller: str, now_ms: int, *, suffix: str, quota: int) -> Decision:
        window_ms = policy.window_seconds * 1000
        if not self.enabled:
            return Decision(policy, quota, True, quota, 0, 0)
        if quota == 0:
            return Decision(policy, 0, False, 0, policy.window_seconds, window_ms)
        buckets = self._buckets_of(policy)
        if suffix:
            bucket = buckets.of_suffix(caller, suffix, quota * window_ms, now_ms)
        else:
            bucket = buckets.of(caller, quota * window_ms, now_ms)
        return _decision(policy, quota, bucket, bucket.take(quota, window_ms, now_ms))

    def _buckets_of(self, policy: Policy) -> Buckets:
        buckets = self._buckets.get(policy.name)
        if buckets is None:
            buckets = self._buckets[policy.name] = Buckets(policy.window_seconds * 1000, self._max_buckets)
        return buckets


class Meter:
    """One policy, counted for its holder alone; costs nothing before the first token is taken.

    Args:
        policy: what is counted.
        enabled: False lifts it.
    """

    __slots__ = ("_bucket", "_policy")

    def __init__(self, policy: Policy, *, enabled: bool) -> None:
        self._policy = policy if enabled else None
        self._bucket: Bucket | None = None

    def take(self, now_ms: int, tokens: int = 1) -> int:
        """Take tokens, if there are so many.

        Args:
            now_ms: epoch milliseconds, from the injected clock.
            tokens: at least 1.

        Returns:
            0, or the milliseconds until there is one.
        """
        policy = self._policy
        if policy is None:
            return 0
        window_ms = policy.window_seconds * 1000
        bucket = self._bucket
        if bucket is None:
            bucket = self._bucket = Bucket(policy.quota * window_ms, now_ms)
        if bucket.take(policy.quota, window_ms, now_ms, tokens):
            return 0
        return bucket.wait_ms(policy.quota, window_ms)


def _decision(policy: Policy, quota: int, bucket: Bucket, allowed: bool) -> Decision:
    window_ms, level = policy.window_seconds * 1000, bucket.level
    return Decision(
        policy,
        quota,
        allowed,
        level // window_ms,
        -(-(quota * window_ms - level) // (quota * 1000)),
        0 if allowed else -(-(window_ms - level) // quota),
    )
