"""The moves between two users, each a unit of work for one transaction (service-api §3, contract §5).

Both users' rows are locked, in the order of their ids, before anything is looked at: whatever happens between two, and
to the number of either's friends, happens one after the other.
"""

from typing import TypeVar

import msgspec

from actors.change import Change
from actors.errors import FriendRequestsDisabled, Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.friends.events import RequestEnded
from actors.friends.moves import Move, Relation, after, standing_of
from actors.ids import ObjectId, UserId
from actors.notifications.view import NotificationsChanged
from actors.users.locking import require_user
from actors.users.permissions import Access
from persistence.connection import Connection
from persistence.friends import blocks, links, requests, standing
from persistence.friends.blocks import Block
from persistence.friends.links import Link
from persistence.friends.requests import Request
from persistence.notifications import notifications
from persistence.notifications.kinds import NotificationKind
from persistence.notifications.notifications import NewNotification
from persistence.users.users import User, lock_user

R = TypeVar("R")

REQUEST_TTL_MS = 30 * 24 * 60 * 60 * 1000
"""How long a request waits (contract §5)."""

FRIENDS_DEFAULT, FRIENDS_BOUND = 250, 10_000
"""How many friends a user may have: without a grant (service-api §8), and at most, however many are granted."""

SENT_MAX, RECEIVED_MAX = 250, 1_000
"""Most requests sent by one user that wait, and most that wait for one user."""

BLOCKS_MAX = 1_000
"""Most users whom one user blocks."""

FRIENDS_NODE = "social:friends.max"
"""The permission node that grants a number of friends."""


class Pair(msgspec.Struct, frozen=True):
    """Two users, one of whom acts on the other.

    Args:
        actor_id: the user who acts, directly or through a game server.
        other_id: the user whom it concerns.
        actor_max, other_max: how many friends each of the two may have.
        id: a fresh object id for a request, should one be made.
        notice_id: a fresh object id for a notification, should one be made.
        now_ms: epoch milliseconds.
    """

    actor_id: UserId
    other_id: UserId
    actor_max: int
    other_max: int
    id: ObjectId
    notice_id: ObjectId
    now_ms: int


class Sent(msgspec.Struct, frozen=True):
    """The outcome of `send`. `link` is set where an opposite request waited, so that the two are friends now."""

    request: Request
    link: Link | None


class NowBlocked(msgspec.Struct, frozen=True):
    """The outcome of `block`.

    Args:
        fresh: whether the block is new; False if it existed before.
    """

    block: Block
    fresh: bool


class _Found(msgspec.Struct, frozen=True):
    """What the locked rows of a pair say; `request` is the one on which the move is decided."""

    actor: User
    other: User
    standing: Relation
    request: Request | None


def capacity(access: Access) -> int:
    """How many friends a user may have."""
    quota = access.quota(FRIENDS_NODE)
    return FRIENDS_DEFAULT if quota is None else min(int(quota.value), FRIENDS_BOUND)


async def send(conn: Connection, pair: Pair, note: str | None) -> Change[Sent]:
    """Send a friend request; if the target has sent one already, that one is accepted.

    Args:
        note: a text for the other user; None without one.

    Raises:
        NotFound: there is no such user.
        Invalid: the two are the same user.
        AlreadyFriends, RequestExists, Blocked: see the table of moves.
        FriendRequestsDisabled: the settings of the other allow no requests.
        QuotaExceeded: one of the two has as many friends, or waiting requests, as they may have.
    """
    if pair.actor_id == pair.other_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "one cannot be one's own friend"))
    found = await _lock(conn, pair)
    if after(found.standing, Move.SEND) is Relation.FRIENDS:
        request = _waiting(found, None)
        return _notified(Sent(request, await _befriend(conn, pair, found, request)), pair)
    if not found.other.allow_friend_requests:
        raise FriendRequestsDisabled
    await _check_room(conn, pair)
    expires_at_ms = pair.now_ms + REQUEST_TTL_MS
    await requests.add(
        conn,
        id=pair.id,
        sender_id=pair.actor_id,
        recipient_id=pair.other_id,
        note=note,
        created_at_ms=pair.now_ms,
        expires_at_ms=expires_at_ms,
    )
    data = {"requestId": pair.id, "name": found.actor.name}
    await _notify(conn, pair, "friend_request", data)
    request = Request(
        pair.id, pair.actor_id, found.actor.name, pair.other_id, found.other.name, note,
        pair.now_ms, expires_at_ms,
    )  # fmt: skip
    return _notified(Sent(request, None), pair)


async def accept(conn: Connection, pair: Pair, request_id: str | None) -> Change[Link]:
    """Accept the request that the other has sent; the value is the actor's link to the new friend.

    Args:
        request_id: the request that is meant; None for whichever waits.

    Raises:
        NotFound: no such request waits.
        Blocked: one of the two blocks the other.
        QuotaExceeded: one of the two has as many friends as they may have.
    """
    found = await _lock(conn, pair)
    after(found.standing, Move.ACCEPT)
    return _notified(await _befriend(conn, pair, found, _waiting(found, request_id)), pair)


async def decline(conn: Connection, pair: Pair, request_id: str | None) -> Change[None]:
    """Decline the request that the other has sent.

    Raises:
        NotFound: no such request waits.
    """
    return await _drop(conn, pair, Move.DECLINE, request_id)


async def cancel(conn: Connection, pair: Pair, request_id: str | None) -> Change[None]:
    """Delete a pending request; both its sender and its target may (service-api §3).

    Raises:
        NotFound: no such request waits.
    """
    return await _drop(conn, pair, Move.CANCEL, request_id)


async def remove(conn: Connection, pair: Pair) -> Change[None]:
    """End a friendship, both ways.

    Raises:
        NotFound: the two are not friends.
    """
    found = await _lock(conn, pair)
    after(found.standing, Move.REMOVE)
    await links.remove(conn, pair.actor_id, pair.other_id)
    return Change(None)


async def block(conn: Connection, pair: Pair, reason: str | None) -> Change[NowBlocked]:
    """Block a user: a friendship or request between the two ends.

    Args:
        reason: why, shown to the blocker alone; None without one.

    Raises:
        NotFound: there is no such user.
        Invalid: the two are the same user.
        QuotaExceeded: the actor blocks as many users as they may.
    """
    if pair.actor_id == pair.other_id:
        raise Invalid(FieldError("/targetId", "NOT_ALLOWED", "one cannot block oneself"))
    found = await _lock(conn, pair)
    after(found.standing, Move.BLOCK)
    fresh = found.standing not in (Relation.BLOCKING, Relation.ESTRANGED)
    if fresh and await blocks.count(conn, pair.actor_id) >= BLOCKS_MAX:
        raise QuotaExceeded(message=f"you block {BLOCKS_MAX} users already", max=BLOCKS_MAX)
    await links.remove(conn, pair.actor_id, pair.other_id)
    await requests.remove_between(conn, pair.actor_id, pair.other_id)
    row = await blocks.put(conn, pair.actor_id, pair.other_id, reason=reason, now_ms=pair.now_ms)
    return Change(NowBlocked(row, fresh))


async def unblock(conn: Connection, actor_id: UserId, other_id: UserId) -> Change[None]:
    """Unblock a user; a former friendship or request does not come back.

    Raises:
        NotFound: the user does not block the other.
    """
    for id in sorted((actor_id, other_id)):
        await lock_user(conn, id)
    marks = await standing.between(conn, actor_id, other_id)
    after(
        standing_of(
            linked=marks.linked, blocks=marks.blocks, blocked=marks.blocked, sent=False, received=False
        ),
        Move.UNBLOCK,
    )
    await blocks.remove(conn, actor_id, other_id)
    return Change(None)


async def _lock(conn: Connection, pair: Pair) -> _Found:
    users = {id: await require_user(conn, id) for id in sorted((pair.actor_id, pair.other_id))}
    actor, other = users[pair.actor_id], users[pair.other_id]
    marks = await standing.between(conn, pair.actor_id, pair.other_id)
    waiting = await requests.between(conn, pair.actor_id, pair.other_id, pair.now_ms)
    received = next((request for request in waiting if request.sender_id == pair.other_id), None)
    sent = next((request for request in waiting if request.sender_id == pair.actor_id), None)
    return _Found(
        actor,
        other,
        standing_of(
            linked=marks.linked,
            blocks=marks.blocks,
            blocked=marks.blocked,
            sent=sent is not None,
            received=received is not None,
        ),
        received or sent,
    )


def _waiting(found: _Found, request_id: str | None) -> Request:
    request = found.request
    if request is None or request_id not in (None, request.id):
        raise NotFound("no such request")
    return request


async def _check_room(conn: Connection, pair: Pair) -> None:
    if await standing.count_friends(conn, pair.actor_id) >= pair.actor_max:
        raise QuotaExceeded(message=f"you may have {pair.actor_max} friends", max=pair.actor_max)
    sent, received = await standing.count_requests(conn, pair.actor_id, pair.other_id, pair.now_ms)
    if sent >= SENT_MAX:
        raise QuotaExceeded(message=f"{SENT_MAX} requests of yours wait already", max=SENT_MAX)
    if received >= RECEIVED_MAX:
        raise QuotaExceeded(message="too many requests wait for this user", max=RECEIVED_MAX)


async def _befriend(conn: Connection, pair: Pair, found: _Found, request: Request) -> Link:
    if await standing.count_friends(conn, pair.actor_id) >= pair.actor_max:
        raise QuotaExceeded(message=f"you may have {pair.actor_max} friends", max=pair.actor_max)
    if await standing.count_friends(conn, pair.other_id) >= pair.other_max:
        raise QuotaExceeded(message="this user has as many friends as they may", max=pair.other_max)
    await requests.remove_between(conn, pair.actor_id, pair.other_id)
    await links.add(
        conn,
        pair.actor_id,
        pair.other_id,
        created_at_ms=request.created_at_ms,
        accepted_at_ms=pair.now_ms,
    )
    await _notify(conn, pair, "friend_accepted", {"name": found.actor.name})
    (link,) = await links.named(conn, pair.actor_id, (pair.other_id,))
    return link


async def _drop(conn: Connection, pair: Pair, move: Move, request_id: str | None) -> Change[None]:
    found = await _lock(conn, pair)
    after(found.standing, move)
    _waiting(found, request_id)
    await requests.remove_between(conn, pair.actor_id, pair.other_id)
    return Change(None, (RequestEnded(pair.actor_id, pair.other_id),))


def _notified(value: R, pair: Pair) -> Change[R]:
    return Change(value, (NotificationsChanged(pair.other_id),))


async def _notify(conn: Connection, pair: Pair, kind: NotificationKind, data: dict[str, str]) -> None:
    notice = NewNotification(
        pair.notice_id, pair.other_id, kind, pair.actor_id, msgspec.json.encode(data), pair.now_ms
    )
    await notifications.add(conn, [notice])
