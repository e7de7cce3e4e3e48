"""The two state machines of a publication: who owns its address, and whether it is in the list (contract §7). Pure.

| ownership   | proven | not proven |
|-------------|--------|------------|
| `UNCLAIMED` | OWNED  | PENDING    |
| `PENDING`   | OWNED  | PENDING    |
| `OWNED`     | OWNED  | LOST       |
| `LOST`      | OWNED  | LOST       |

Another address starts afresh, from `UNCLAIMED`. An address that nobody publishes for a target stays there.
"""

from persistence.publications.rows import DiscoveryState, OwnershipState

STALE_MS = 7 * 24 * 3_600_000
"""So long after the last status a publication leaves the list."""

OWNERSHIP: dict[tuple[OwnershipState, bool], OwnershipState] = {
    ("UNCLAIMED", True): "OWNED",
    ("UNCLAIMED", False): "PENDING",
    ("PENDING", True): "OWNED",
    ("PENDING", False): "PENDING",
    ("OWNED", True): "OWNED",
    ("OWNED", False): "LOST",
    ("LOST", True): "OWNED",
    ("LOST", False): "LOST",
}
"""{(before, proven): after}."""


def discovery(
    *, suppressed: bool, hidden: bool, ownership: OwnershipState, seen_at_ms: int, now_ms: int
) -> DiscoveryState:
    """Whether a published target is in the list: the first line that holds.

    | line             | state        |
    |------------------|--------------|
    | suppressed       | `SUPPRESSED` |
    | hidden, or LOST  | `UNLISTED`   |
    | silent for long  | `STALE`      |
    | else             | `CONNECT`    |

    Args:
        suppressed: by a moderator.
        hidden: by who publishes it.
        seen_at_ms: the last status, or when it was published.
        now_ms: epoch milliseconds.
    """
    if suppressed:
        return "SUPPRESSED"
    if hidden or ownership == "LOST":
        return "UNLISTED"
    return "STALE" if seen_at_ms < now_ms - STALE_MS else "CONNECT"
