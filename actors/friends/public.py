"""What clients see of friends, as structs (service-api §2, contract §5)."""

from typing import Literal, Protocol

import msgspec

from actors.time import DAY_MS, iso
from persistence.friends.visibilities import Visibility


class Shown(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all structs here: frozen, with camelCase names on the wire."""


class Status(Shown, frozen=True):
    """Whether a user is online, and since when that is so.

    Args:
        state: `ONLINE` or `OFFLINE`.
        timestamp: since when.
    """

    state: str
    timestamp: str


class Player(Shown, frozen=True):
    """A Player summary (service-api §2).

    Args:
        status: whether they are online, and since when.
    """

    id: str
    name: str
    online: bool
    status: Status
    party_id: str | None


class FlameStreak(Shown, frozen=True):
    """Consecutive UTC days on which two users were in touch both ways.

    Args:
        days: how many days.
        active: whether it can still be prolonged.
        started_at: the first of the days.
        last_interaction_at: when one of them was last in touch with the other for the first time of a day.
        expires_at: the moment by which both must have been in touch again.
    """

    days: int
    active: bool
    started_at: str
    last_interaction_at: str
    expires_at: str


class FriendPart(Shown, frozen=True):
    """The part of a Friend entry that the friend determines.

    Args:
        status: whether they are online, and since when.
        player: the friend, as players are shown everywhere.
    """

    friend_id: str
    name: str
    online: bool
    status: Status
    party_id: str | None
    last_seen_at: str | None
    player: Player


class FriendEntry(FriendPart, frozen=True):
    """A friend (service-api §2).

    Args:
        favorite, visibility, note: what the user has chosen for this friend.
        created_at: when the request was sent.
        accepted_at: since when they are friends.
        updated_at: when the user last changed what they have chosen.
        flame_streak: the days on which both were in touch; null while there are none.
    """

    favorite: bool
    visibility: Visibility
    note: str | None
    created_at: str
    accepted_at: str
    updated_at: str
    flame_streak: FlameStreak | None


class RequestEntry(Shown, frozen=True):
    """A friend request that waits.

    Args:
        note: what the sender wrote along; null without a note.
        player: the other of the two, of whom nothing but the name shows.
    """

    id: str
    sender_id: str
    recipient_id: str
    direction: Literal["incoming", "outgoing"]
    note: str | None
    created_at: str
    expires_at: str
    player: Player


class RequestSent(RequestEntry, frozen=True):
    """A request that was sent.

    Args:
        friend: the new friend, when the request has met an opposite one; null while it waits.
    """

    friend: FriendEntry | None


class Requests(Shown, frozen=True):
    """The requests that wait."""

    incoming: tuple[RequestEntry, ...]
    outgoing: tuple[RequestEntry, ...]


class BlockEntry(Shown, frozen=True):
    """One user whom the caller blocks.

    Args:
        blocked_user_id: the user who is blocked.
        reason: the caller's own note; null without one.
    """

    blocked_user_id: str
    reason: str | None
    created_at: str
    updated_at: str


class Counts(Shown, frozen=True):
    """What there is in a list of friends, and what there may be.

    Args:
        total: how many friends there are.
        favorites: how many of them are favourites.
        online: how many of them show as online.
        max: how many friends a user may have.
    """

    total: int
    favorites: int
    online: int
    max: int


class FriendsSnapshot(Shown, frozen=True):
    """A user's friends.

    Args:
        self_: the user themselves.
    """

    friends: tuple[FriendEntry, ...]
    counts: Counts
    self_: Player = msgspec.field(name="self")


class FriendsOverview(Shown, frozen=True):
    """A user's friends and requests; `incoming` and `outgoing` are those of `requests` once more.

    Args:
        self_: the user themselves.
        requests: the friend requests that wait.
    """

    friends: tuple[FriendEntry, ...]
    counts: Counts
    self_: Player = msgspec.field(name="self")
    incoming: tuple[RequestEntry, ...]
    outgoing: tuple[RequestEntry, ...]
    requests: Requests


class FriendCounts(Shown, frozen=True):
    """What there is in a list of friends.

    Args:
        total: how many friends there are.
        favorites: how many of them are favourites.
        online: how many of them show as online.
    """

    total: int
    favorites: int
    online: int


class FriendsFrame(Shown, frozen=True):
    """The live frame of friends: all of them, at once and whenever something has changed (service-api §6).

    Args:
        requests: the friend requests that wait.
    """

    type: Literal["friends_snapshot"]
    friends: tuple[FriendEntry, ...]
    counts: FriendCounts
    requests: Requests


class FriendGone(Shown, frozen=True):
    """The data of `friend_removed`."""

    friend_id: str


class RequestGone(Shown, frozen=True):
    """The data of `request_removed`."""

    id: str


class Appearance(Shown, frozen=True):
    """What one user sees of another at this moment.

    Args:
        party_id: the party that they are in; null when in none, or not shown.
    """

    online: bool
    status: Status
    party_id: str | None
    last_seen_at: str | None


class Streaked(Protocol):
    """What `flame_streak` needs of a link; records of rows and of memory both have it."""

    @property
    def first_day(self) -> int | None:
        """The first of the consecutive days."""
        ...

    @property
    def last_day(self) -> int | None:
        """The last of the consecutive days."""
        ...

    @property
    def last_contact_ms(self) -> int | None:
        """When either of the two was last in touch with the other, epoch milliseconds."""
        ...


def flame_streak(link: Streaked, now_ms: int) -> FlameStreak | None:
    """The streak of a link's two users at `now_ms`; None while no day has seen both in touch (contract §5)."""
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
