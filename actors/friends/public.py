"""What friends show to clients, as structs (service-api §2, contract §5)."""

from typing import Literal

from actors.friends.faces import Player, Shown, Status
from actors.time import iso
from persistence.friends.links import Link
from persistence.friends.visibilities import Visibility

DAY_MS = 24 * 60 * 60 * 1000


class FlameStreak(Shown, frozen=True):
    """Consecutive UTC days on which two were in touch both ways."""

    days: int
    active: bool
    started_at: str
    last_interaction_at: str
    expires_at: str


class FriendEntry(Shown, frozen=True):
    """A friend (service-api §2)."""

    friend_id: str
    name: str
    online: bool
    status: Status
    party_id: str | None
    last_seen_at: str | None
    player: Player
    favorite: bool
    visibility: Visibility
    note: str | None
    created_at: str
    accepted_at: str
    updated_at: str
    flame_streak: FlameStreak | None


class RequestEntry(Shown, frozen=True):
    """A friend request that waits; `player` is the other of the two."""

    id: str
    sender_id: str
    recipient_id: str
    direction: Literal["incoming", "outgoing"]
    note: str | None
    created_at: str
    expires_at: str
    player: Player


def flame_streak(link: Link, now_ms: int) -> FlameStreak | None:
    """The streak of a link's two users at this moment."""
    if link.first_day is None or link.last_day is None or link.last_contact_ms is None:
        return None
    expires_at_ms = (link.last_day + 2) * DAY_MS
    return FlameStreak(
        days=link.last_day - link.first_day + 1,
        active=now_ms < expires_at_ms,
        started_at=iso(link.first_day * DAY_MS),
        last_interaction_at=iso(link.last_contact_ms),
        expires_at=iso(expires_at_ms),
    )
