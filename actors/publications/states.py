"""The two state machines of a publication: ownership of its address, and presence in the list (contract §7). Pure.

| ownership   | proven | not proven |
|-------------|--------|------------|
| `UNCLAIMED` | OWNED  | PENDING    |
| `PENDING`   | OWNED  | PENDING    |
| `OWNED`     | OWNED  | LOST       |
| `LOST`      | OWNED  | LOST       |

A changed address starts again from `UNCLAIMED`. An address that is not published for a server or network, only saved
by users, stays there.
"""

from persistence.publications.rows import DiscoveryState, OwnershipState

STALE_MS = 7 * 24 * 3_600_000
"""How long after the last status a publication leaves the list."""

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
"""{(ownership before, whether the address is proven): ownership afterwards}."""


def discovery(
    *, suppressed: bool, hidden: bool, ownership: OwnershipState, seen_at_ms: int, now_ms: int
) -> DiscoveryState:
    """The discovery state of a published target: the first line that applies.

    | line             | state        |
    |------------------|--------------|
    | suppressed       | `SUPPRESSED` |
    | hidden, or LOST  | `UNLISTED`   |
    | silent for long  | `STALE`      |
    | else             | `CONNECT`    |

    Args:
        suppressed: whether a moderator has suppressed it.
        hidden: whether the user who publishes it has hidden it.
        ownership: the state of its address.
        seen_at_ms: when it last had a status, or was published, epoch milliseconds.
        now_ms: epoch milliseconds.
    """
    if suppressed:
        return "SUPPRESSED"
    if hidden or ownership == "LOST":
        return "UNLISTED"
    return "STALE" if seen_at_ms < now_ms - STALE_MS else "CONNECT"
