"""A user's friends, as they or another user may see them (contract §5).

Oneself and `admin:user:view` see all. A friend sees the friends from whom the user does not hide, and of each of these
no more than both the user and the friend who looks may see; of a stranger to them neither party nor when they were last
seen. What the user has chosen for a friend, their notes and their requests are shown to themselves alone.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from actors.errors import VisibilityDenied
from actors.friends.frames import request_entry
from actors.friends.public import (
    Appearance,
    Counts,
    FriendEntry,
    FriendsOverview,
    FriendsSnapshot,
    Player,
    Requests,
)
from actors.friends.public import flame_streak as streak_of
from actors.time import iso
from persistence.connection import Connection
from persistence.friends import blocks, links, requests
from persistence.friends.links import Link
from persistence.friends.requests import Request
from persistence.friends.visibilities import Visibility
from persistence.users.users import User


class Seeing(Protocol):
    """How users appear to each other: `FriendsLive`."""

    def appearance(self, user_id: str, viewer_id: str, last_seen_at_ms: int | None = None) -> Appearance:
        """What one user sees of another now; `last_seen_at_ms` is what rows say, epoch milliseconds."""
        ...

    def visibility_of(self, holder_id: str, viewer_id: str) -> Visibility:
        """What the viewer may see of the holder."""
        ...


class Owned(msgspec.Struct, frozen=True):
    """What a user's rows say: friends, and the requests that wait."""

    links: Sequence[Link]
    requests: Sequence[Request]


class Looked(msgspec.Struct, frozen=True):
    """What the rows say of the friends of one friend of the viewer.

    Args:
        links: the links to that friend's friends, as far as they may be seen.
        known: ids of those among them who are friends of the viewer as well.
    """

    links: Sequence[Link]
    known: Collection[str]


async def read_own(conn: Connection, user_id: str, now_ms: int) -> Owned:
    """A user's own friends and the requests that wait at `now_ms`, epoch milliseconds."""
    return Owned(await links.of_user(conn, user_id), await requests.of_user(conn, user_id, now_ms))


async def read_of_friend(conn: Connection, user_id: str, viewer_id: str) -> Looked:
    """What a friend may see of a user's friends.

    Raises:
        VisibilityDenied: the two are not friends, or there is no such user.
    """
    if not await links.friends_among(conn, viewer_id, (user_id,)):
        raise VisibilityDenied
    shown = [link for link in await links.of_user(conn, user_id) if link.visibility != "HIDDEN"]
    ids = [link.friend_id for link in shown]
    barred = await blocks.barred_among(conn, viewer_id, ids)
    known = await links.friends_among(conn, viewer_id, ids)
    return Looked([link for link in shown if link.friend_id not in barred], known)


def entry(link: Link, seen: Appearance, now_ms: int) -> FriendEntry:
    """A Friend entry.

    Args:
        seen: how the friend appears to the user.
        now_ms: epoch milliseconds, because a streak ends with time.
    """
    return FriendEntry(
        friend_id=link.friend_id,
        name=link.name,
        online=seen.online,
        status=seen.status,
        party_id=seen.party_id,
        last_seen_at=seen.last_seen_at,
        player=player(link.friend_id, link.name, seen),
        favorite=link.favorite,
        visibility=link.visibility,
        note=link.note,
        created_at=iso(link.created_at_ms),
        accepted_at=iso(link.accepted_at_ms),
        updated_at=iso(link.updated_at_ms),
        flame_streak=streak_of(link, now_ms),
    )


def player(user_id: str, name: str, seen: Appearance) -> Player:
    """The Player summary of a user, with the `name` that they have now."""
    return Player(user_id, name, seen.online, seen.status, seen.party_id)


def own_entries(seeing: Seeing, found: Iterable[Link], now_ms: int) -> tuple[FriendEntry, ...]:
    """A user's friends as that user sees them."""
    return tuple(
        entry(link, seeing.appearance(link.friend_id, link.user_id, link.last_seen_at_ms), now_ms)
        for link in found
    )


def snapshot(seeing: Seeing, user: User, owned: Owned, maximum: int, now_ms: int) -> FriendsSnapshot:
    """A user's friends for themselves.

    Args:
        maximum: how many friends the user may have.
    """
    entries = own_entries(seeing, owned.links, now_ms)
    return FriendsSnapshot(entries, counts(entries, maximum), _self(seeing, user, user.id))


def whole(seeing: Seeing, user: User, owned: Owned, maximum: int, now_ms: int) -> FriendsOverview:
    """A user's friends and requests, for themselves and for callers with `admin:user:view`.

    Args:
        maximum: how many friends the user may have.
    """
    entries = own_entries(seeing, owned.links, now_ms)
    asked = waiting(owned.requests, user.id)
    return FriendsOverview(
        entries, counts(entries, maximum), _self(seeing, user, user.id), asked.incoming, asked.outgoing, asked
    )


def for_friend(seeing: Seeing, user: User, viewer_id: str, looked: Looked, maximum: int) -> FriendsOverview:
    """A user's friends for one of them.

    Args:
        maximum: how many friends the user may have.
    """
    entries = tuple(_entry_for(seeing, link, viewer_id, looked.known) for link in looked.links)
    return FriendsOverview(
        entries, counts(entries, maximum), _self(seeing, user, viewer_id), (), (), Requests((), ())
    )


def waiting(found: Sequence[Request], user_id: str) -> Requests:
    """Requests as one of the two sees them."""
    return Requests(
        tuple(request_entry(one, user_id) for one in found if one.recipient_id == user_id),
        tuple(request_entry(one, user_id) for one in found if one.sender_id == user_id),
    )


def counts(entries: Collection[FriendEntry], maximum: int) -> Counts:
    """The counts of the friends that are shown.

    Args:
        maximum: how many friends the user may have.
    """
    return Counts(
        len(entries),
        sum(one.favorite for one in entries),
        sum(one.online for one in entries),
        maximum,
    )


def _entry_for(seeing: Seeing, link: Link, viewer_id: str, known: Collection[str]) -> FriendEntry:
    friend_id, seen_ms = link.friend_id, link.last_seen_at_ms
    if friend_id == viewer_id:
        seen = seeing.appearance(friend_id, viewer_id, seen_ms)
    else:
        seen = _dimmed(seeing, link, viewer_id, stranger=friend_id not in known)
    shown = entry(link, seen, 0)
    return replace(
        shown,
        favorite=False,
        visibility="DEFAULT",
        note=None,
        updated_at=shown.accepted_at,
        flame_streak=None,
    )


def _dimmed(seeing: Seeing, link: Link, viewer_id: str, *, stranger: bool) -> Appearance:
    """The friend of a link as both its holder and another viewer may see them."""
    friend_id, seen_ms = link.friend_id, link.last_seen_at_ms
    choices = [seeing.visibility_of(friend_id, id) for id in (link.user_id, viewer_id)]
    seen = seeing.appearance(friend_id, link.user_id, seen_ms)
    if choices[0] == "HIDDEN":
        return seen
    if choices[1] == "HIDDEN":
        return seeing.appearance(friend_id, viewer_id, seen_ms)
    return replace(seen, party_id=None, last_seen_at=None) if stranger or "LIMITED" in choices else seen


def _self(seeing: Seeing, user: User, viewer_id: str) -> Player:
    return player(user.id, user.name, seeing.appearance(user.id, viewer_id, user.last_seen_at_ms))
