"""Rate limits: token buckets with exact refill, by the policies of `policies.py`.

A bucket counts in whole numbers (one token is `window_ms` units, a millisecond refills `quota` units), so that
rounding neither gives nor takes a token over a day. Buckets live in memory, are bounded in number (`buckets.py`), and
are shared by REST and sockets, so that a message counts either way. Each node has its own, from which what
callers have spent on others is taken as soon as that is heard (`spending.py`).
"""

from functools import lru_cache

import msgspec

from routes.edge.buckets import MAX_BUCKETS, Bucket, Buckets
from routes.edge.policies import Policy
from routes.edge.principal import Access
from routes.edge.spending import Spending, Spent


class Decision(msgspec.Struct, frozen=True, gc=False):
    """The state of a bucket after it was asked for a token.

    Args:
        policy: the policy that was asked.
        quota: its quota for this caller.
        allowed: whether a token was taken.
        remaining: whole tokens left.
        reset_seconds: time until the bucket is full again.
        retry_after_ms: time until the next token; 0 when allowed.
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
    """The `RateLimit-Policy` header and the policy's encoded name: cached, since nearly all callers have the same."""
    name = policy.name.encode()
    return (b"ratelimit-policy", b'"%b";q=%d;w=%d' % (name, quota, policy.window_seconds)), name


class Limits:
    """All rate limits of this process.

    Args:
        enabled: False lifts every limit (`PARTYLINE_RATE_LIMITS=off`, for load tests).
        max_buckets: how many buckets of one policy are kept.

    Attributes:
        spending: notes what is taken, for other nodes; None where there are none.
    """

    def __init__(self, *, enabled: bool = True, max_buckets: int = MAX_BUCKETS) -> None:
        self.enabled = enabled
        self.spending: Spending | None = None
        # {name of a policy: its table}: one for each, so that flooding one leaves the others as they are.
        self._buckets: dict[str, Buckets] = {}
        self._max_buckets = max_buckets

    def take(self, policy: Policy, key: str, now_ms: int) -> Decision:
        """Take one token, if there is one.

        Args:
            policy: the policy that counts the call.
            key: the key by which the caller is counted.
            now_ms: epoch milliseconds, from the injected clock.
        """
        return self._take(policy, key, now_ms, suffix="", quota=policy.quota)

    def take_for(
        self, policy: Policy, caller: str, now_ms: int, *, suffix: str = "", access: Access | None = None
    ) -> Decision:
        """Take one token for a caller whose rights may hold a quota of their own.

        Args:
            policy: the policy that counts the call.
            caller: the principal's key, or a client address (`address.py`: `rate_key`).
            now_ms: epoch milliseconds, from the injected clock.
            suffix: the subject that is counted separately, such as the id of a room; empty for none.
            access: the caller's rights, which may hold a value of the policy's quota node.
        """
        return self._take(policy, caller, now_ms, suffix=suffix, quota=policy.quota_of(access))

    def hold_up(
        self, policy: Policy, caller: str, now_ms: int, *, suffix: str = "", access: Access | None = None
    ) -> Decision | None:
        """Count a call against the outer policy, while it is not known yet whether the caller may use the subject.

        If the subject's own bucket exists and is empty, that refuses; otherwise one token of the outer policy is
        taken. No bucket is created for the subject.

        Args:
            policy: what is counted; None is returned at once where it has no outer policy.
            caller: the principal's key, or a client address.
            now_ms: epoch milliseconds, from the injected clock.
            suffix: the subject, such as the id of a room; empty for none.
            access: the caller's rights, which may hold a value of the policy's quota node.

        Returns:
            The refusal, or None when the caller may go on.
        """
        outer = policy.outer
        if outer is None or not self.enabled:
            return None
        quota = policy.quota if access is None else policy.quota_of(access)
        if suffix:
            bucket = self._buckets_of(policy).known_suffix(caller, suffix)
            window_ms = policy.window_seconds * 1000
            if bucket is not None and bucket.level + (now_ms - bucket.at_ms) * quota < window_ms:
                return self._take(policy, caller, now_ms, suffix=suffix, quota=quota)
        quota = policy.outer_quota_of(quota) if quota != policy.quota else outer.quota
        window_ms = outer.window_seconds * 1000
        bucket = self._buckets_of(outer).of(caller, quota * window_ms, now_ms)
        if bucket.take(quota, window_ms, now_ms):
            if self.spending is not None:
                self.spending.note(bucket, (outer.name, caller, ""), quota)
            return None
        return _decision(outer, quota, bucket, False)

    def refusal(self, policy: Policy, caller: str, now_ms: int) -> Decision | None:
        """The refusal that `take` would return now, or None. Takes no token, and creates no bucket.

        Args:
            policy: the policy that counts the call.
            caller: the principal's key, or a client address.
            now_ms: epoch milliseconds, from the injected clock.
        """
        bucket = self._buckets_of(policy).known(caller) if self.enabled else None
        window_ms = policy.window_seconds * 1000
        if bucket is None or bucket.level + (now_ms - bucket.at_ms) * policy.quota >= window_ms:
            return None
        return self.take(policy, caller, now_ms)

    def spend(self, policy: Policy, caller: str, now_ms: int, tokens: int) -> None:
        """Take tokens for work that is already done; where there are too few, the caller owes the others, and is
        refused until they have come back.

        Args:
            policy: the policy that counts the call.
            caller: the principal's key, or a client address.
            now_ms: epoch milliseconds, from the injected clock.
            tokens: at least 1.
        """
        if not self.enabled:
            return
        window_ms, buckets = policy.window_seconds * 1000, self._buckets_of(policy)
        bucket = buckets.of(caller, policy.quota * window_ms, now_ms)
        if not bucket.take(policy.quota, window_ms, now_ms, tokens):
            if bucket.is_shared:
                bucket.level = min(bucket.level, 0)
            else:
                buckets.owe(caller, "", policy.quota, tokens, now_ms)
        if self.spending is not None:
            self.spending.note(bucket, (policy.name, caller, ""), policy.quota, tokens)

    def charge(self, policy: Policy, caller: str, now_ms: int, tokens: int) -> Decision | None:
        """Take tokens where there is one, more than there are if need be; otherwise return the refusal.

        So a thing of any size may be done, and the next one waits until it is paid for.

        Args:
            policy: the policy that counts the call.
            caller: the principal's key, or a client address.
            now_ms: epoch milliseconds, from the injected clock.
            tokens: none are taken below 1.
        """
        if tokens <= 0:
            return None
        refusal = self.refusal(policy, caller, now_ms)
        if refusal is None:
            self.spend(policy, caller, now_ms, tokens)
        return refusal

    def owe(self, policy: Policy, spent: Spent, now_ms: int) -> None:
        """Take the tokens that a caller has spent on another node, even if the bucket has fewer.

        Args:
            policy: the policy that counts the call.
            spent: what the other node has told of it.
            now_ms: epoch milliseconds, from the injected clock.
        """
        if self.enabled and spent.quota > 0 and spent.tokens > 0:
            tokens = min(spent.tokens, spent.quota)
            self._buckets_of(policy).owe(spent.caller, spent.suffix, spent.quota, tokens, now_ms)

    def meter(self, policy: Policy) -> "Meter":
        """A new bucket outside the tables, for one object such as a socket, which keeps it."""
        return Meter(policy, enabled=self.enabled)

    def __len__(self) -> int:
        """How many buckets are kept."""
        return sum(map(len, self._buckets.values()))

    @property
    def overflows(self) -> int:
        """How often a caller found the table full and was given a shared bucket."""
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
        allowed = bucket.take(quota, window_ms, now_ms)
        if allowed and self.spending is not None:
            self.spending.note(bucket, (policy.name, caller, suffix), quota)
        return _decision(policy, quota, bucket, allowed)

    def _buckets_of(self, policy: Policy) -> Buckets:
        buckets = self._buckets.get(policy.name)
        if buckets is None:
            buckets = self._buckets[policy.name] = Buckets(policy.window_seconds * 1000, self._max_buckets)
        return buckets


class Meter:
    """A bucket of one policy that belongs to one object; created with the first token that is taken.

    Args:
        policy: the policy that counts the call.
        enabled: False lifts the limit.
    """

    __slots__ = ("_bucket", "_policy")

    def __init__(self, policy: Policy, *, enabled: bool) -> None:
        self._policy = policy if enabled else None
        self._bucket: Bucket | None = None

    def take(self, now_ms: int, tokens: int = 1) -> int:
        """Take tokens if there are enough, otherwise none.

        Args:
            now_ms: epoch milliseconds, from the injected clock.
            tokens: how many, at least 1.

        Returns:
            0 when they were taken, otherwise the milliseconds until there is one token.
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
        max(0, level // window_ms),
        -(-(quota * window_ms - level) // (quota * 1000)),
        0 if allowed else -(-(window_ms - level) // quota),
    )
