"""What a rate limit is, and the limits that every service has: by kind of caller, and for requests that go astray.

A service declares further policies at its routes.

A policy that counts each subject separately, as a room or a server, has an outer policy that counts all of them
together: otherwise a caller with many subjects would have as many limits. For the same reason a policy that counts
servers has one that counts all servers of an owner together.
"""

from dataclasses import dataclass

from routes.edge.principal import Access

MAX_QUOTA = 10**15 - 1
"""The largest quota of a user's own: an integer of a structured field has 15 digits at most (RFC 9651 §3.3.1), and the
RateLimit headers with a longer one could not be read at all."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The limit for one class of requests.

    Args:
        name: as sent in the RateLimit headers.
        quota: tokens in a full bucket, and refilled within one window.
        window_seconds: time in which an empty bucket fills.
        by_address: whether calls are counted by client address even where the caller is known.
        quota_node: the permission node whose value replaces `quota` for one user, or None.
        outer: the policy that counts the same calls per caller, whatever their subject; or None.
        of_owner: the policy that counts the same calls of all servers of one owner together; or None.
    """

    name: str
    quota: int
    window_seconds: int
    by_address: bool = False
    quota_node: str | None = None
    outer: "Policy | None" = None
    of_owner: "Policy | None" = None

    def quota_of(self, access: Access | None) -> int:
        """The quota of one caller, 0 to `MAX_QUOTA`.

        Args:
            access: the caller's rights, which may hold a quota of their own; None for `quota`.
        """
        if self.quota_node is None or access is None:
            return self.quota
        quantity = access.quota(self.quota_node)
        return self.quota if quantity is None else min(max(0, int(quantity.value)), MAX_QUOTA)

    def outer_quota_of(self, quota: int) -> int:
        """The outer policy's quota for a caller whose own quota here is `quota`: raised in the same proportion, never
        lowered.

        Raises:
            ValueError: there is no outer policy.
        """
        if self.outer is None:
            raise ValueError(f"{self.name} has no outer policy")
        return max(self.outer.quota, -(-self.outer.quota * quota // self.quota))


USER_READ = Policy("user-read", 300, 60)
"""Users' GETs, on routes without a policy of their own."""

USER_WRITE = Policy("user-write", 120, 60)
"""Users' other requests, on routes without a policy of their own."""

PUBLIC = Policy("public", 120, 60, by_address=True)
"""Requests to public routes."""

OWNED_SERVERS = Policy("server-owned", 60_000, 60)
"""Requests of all game servers of one owner together: as many as fifty of them may make."""

SERVER = Policy("server", 1200, 60, of_owner=OWNED_SERVERS)
"""Requests of game servers and other machines."""

LIVE_FRAME = Policy("live-frame", 600, 60)
"""Frames of one socket that are not whole messages: pings, pongs, fragments."""

HTTP2_FRAME = Policy("http2-frame", 2400, 60)
"""Frames of one HTTP/2 connection that are no part of a request, beyond those that its answers account for."""

BAD_CREDENTIALS = Policy("bad-credentials", 60, 60, by_address=True)
"""Wrong credentials only: each costs the check of a signature, or a database query."""

KEPT_ANSWERS = Policy("kept-answers", 64 * 1024 * 1024, 86_400)
"""Bytes of answers that are kept for a day (`pipeline/idempotency.py`), without the first KiB of each."""

ASTRAY = Policy("astray", 1200, 60, by_address=True)
"""Requests refused before any other policy counts them: unknown routes and methods, OPTIONS, missing or expired
credentials, WebSocket handshakes that are refused for their headers."""
