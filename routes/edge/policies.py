"""The policies of rate limits: the table of contract §3, and those that it does not name.

A policy that counts each subject separately, as `chat-send` does each conversation, has an outer policy that counts
all of them together: otherwise a caller with many subjects would have as many limits.
"""

from dataclasses import dataclass

from routes.edge.principal import Access


@dataclass(frozen=True, slots=True)
class Policy:
    """The limit for one class of requests.

    Args:
        name: as sent in the RateLimit headers.
        quota: tokens in a full bucket, and refilled within one window.
        window_seconds: time in which an empty bucket fills.
        by_address: counted by client address even where the caller is known.
        quota_node: the permission node whose value replaces `quota` for one user, or None.
        outer: the policy that counts the same calls per caller, whatever their subject; or None.
    """

    name: str
    quota: int
    window_seconds: int
    by_address: bool = False
    quota_node: str | None = None
    outer: "Policy | None" = None

    def quota_of(self, access: Access | None) -> int:
        """The quota of one caller.

        Args:
            access: the caller's rights, which may hold a quota of their own; None for `quota`.
        """
        if self.quota_node is None or access is None:
            return self.quota
        quantity = access.quota(self.quota_node)
        return self.quota if quantity is None else max(0, int(quantity.value))

    def outer_quota_of(self, quota: int) -> int:
        """The outer policy's quota for a caller whose own quota here is `quota`: raised in the same proportion, never
        lowered.

        Raises:
            ValueError: there is no outer policy.
        """
        if self.outer is None:
            raise ValueError(f"{self.name} has no outer policy")
        return max(self.outer.quota, -(-self.outer.quota * quota // self.quota))


_ALL_CHAT = Policy("chat-send-all", 300, 60)
"""Messages of one sender in all conversations together; not in the contract's table."""

_ALL_SETTINGS = Policy("settings-write-all", 120, 60)
"""Writes of one caller to all servers together, as many as of anything else; not in the contract's table."""

_ALL_LIVE = Policy("live-command-all", 1200, 60)
"""Commands of one user on all sockets, including those closed since; not in the contract's table."""

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("user-read", 300, 60),
        Policy("user-write", 120, 60),
        _ALL_CHAT,
        Policy("chat-send", 30, 10, quota_node="social:chat.send", outer=_ALL_CHAT),
        Policy("friend-request", 20, 3600),
        Policy("upload", 20, 60),
        Policy("checkout", 10, 600),
        Policy("voice-join", 20, 60),
        # Of payment providers, which repeat what was refused; counted by address.
        Policy("webhook", 600, 60, by_address=True),
        # Each asks another server, twice; not in the contract's table.
        Policy("sign-in", 30, 60, by_address=True),
        Policy("sign-in-link", 20, 3600),
        Policy("register", 10, 3600, by_address=True),
        # Each is a durable write for a server without an owner; not in the contract's table.
        Policy("claim-key", 20, 60),
        Policy("public", 120, 60, by_address=True),
        Policy("server", 1200, 60),
        Policy("status-push", 2, 1),
        # Each writes a version of up to 64 KiB and is published to all viewers; not in the contract's table.
        _ALL_SETTINGS,
        Policy("settings-write", 60, 60, outer=_ALL_SETTINGS),
        _ALL_LIVE,
        Policy("live-command", 120, 60, outer=_ALL_LIVE),
        # Frames of one socket that are not whole messages: pings, pongs, fragments; not in the contract's table.
        Policy("live-frame", 600, 60),
        # From one user to one other; not in the contract's table.
        Policy("invite", 10, 600),
        # Each sends a DNS query for a name of the caller's choice; not in the contract's table.
        Policy("domain-verify", 30, 60),
        # Probes and scrapers, often many from one address; not in the contract's table, far above their rate.
        Policy("operations", 1200, 60, by_address=True),
        # Files of pages, from memory: a browser that has none of them asks for some fifty.
        Policy("pages", 3000, 60, by_address=True),
        # Wrong credentials only: each costs the check of a signature, or a database query.
        Policy("bad-credentials", 60, 60, by_address=True),
        # Bytes of answers that are kept for a day (`pipeline/idempotency.py`), without the first KiB of each.
        Policy("kept-answers", 64 * 1024 * 1024, 86_400),
        # Requests refused before any other policy counts them: unknown routes and methods, OPTIONS, missing or expired
        # credentials, WebSocket handshakes that are refused for their headers.
        Policy("astray", 1200, 60, by_address=True),
    )
}
"""{name: policy}, contract §3."""
