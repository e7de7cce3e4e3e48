"""How long sessions last. Pure rules.

A session ends when it was not used for a while, and after a longer time in any case; sooner for whoever may run the
service. It never outlives what made it: the token, or the session and all that this one was made from.
"""

from collections.abc import Sequence
from typing import NamedTuple

from actors.time import DAY_MS
from actors.users.permissions import Access
from persistence.sessions.sessions import Session

HOUR_MS = 3_600_000

LINK_TTL_MS = 10 * 60_000
"""How long a sign-in link can be used."""

MAX_SESSIONS = 32
"""Most sessions of one user; a further one ends the session that was not used for the longest time."""

MAX_LINKS = 10
"""Most unused sign-in links that one user has made; a further one ends the oldest."""

MAX_IDENTITIES = 10
"""Most accounts at issuers that one user may be linked with."""


class Lifetime(NamedTuple):
    """How long a session lasts, in milliseconds.

    Args:
        unused_ms: how long after its last use.
        whole_ms: how long after it began, in any case.
    """

    unused_ms: int
    whole_ms: int


USUAL = Lifetime(30 * DAY_MS, 180 * DAY_MS)
"""How long the sessions of most users last."""

OF_OPERATORS = Lifetime(12 * HOUR_MS, 7 * DAY_MS)
"""How long the sessions of super-admins last, and of users who hold a permission node of `admin:`."""


def lifetime_of(access: Access) -> Lifetime:
    """How long sessions of a user with these rights last."""
    held = (node.partition(":")[0] for node in access.held)
    return OF_OPERATORS if access.is_super_admin or not {"admin", "*"}.isdisjoint(held) else USUAL


def ends_at_ms(chain: Sequence[Session], lifetime: Lifetime) -> int:
    """When a session ends if it is not used again, epoch milliseconds.

    Args:
        chain: the session, the one that it was made from, and so on.
        lifetime: how long sessions of its user last.
    """
    ends = [
        end
        for one in chain
        for end in (
            one.used_at_ms + lifetime.unused_ms,
            one.created_at_ms + lifetime.whole_ms,
            one.bound_at_ms,
        )
        if end is not None
    ]
    return min(ends)


def chain_of(session: Session, all_of_user: Sequence[Session]) -> list[Session]:
    """The session, the one that it was made from, and so on, found among all sessions of its user."""
    by_id = {one.id: one for one in all_of_user}
    chain = [session]
    while (parent := by_id.get(chain[-1].parent_id or "")) is not None:
        chain.append(parent)
    return chain
