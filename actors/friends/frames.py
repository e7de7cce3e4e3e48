"""The bytes of the live friends: entries and snapshots, joined from what was encoded before.

A Friend entry is two pieces: what the friend determines (`WatchedUsers.part`, shared by all who watch them), and what
the user does (`own_part`). Where a link has a flame streak, that is a third one, made anew each time, because it ends
by itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from actors.friends.public import Player, RequestEntry, Status, flame_streak
from actors.friends.state import RECORD, VISIBILITIES, Extra, FriendsState, Waiting
from actors.friends.visibility import Restriction
from actors.friends.watched_users import WatchedUsers
from actors.time import iso
from persistence.friends.requests import Request

NO_STREAK = b',"flameStreak":null}'


def waiting_of(request: Request, user_id: str) -> Waiting:
    """A request as one of the two sees it."""
    incoming = request.sender_id != user_id
    return Waiting(
        request.id,
        request.sender_id if incoming else request.recipient_id,
        incoming,
        request.expires_at_ms,
        msgspec.json.encode(request_entry(request, user_id)),
    )


def all_waiting(requests: Iterable[Request], user_id: str) -> tuple[Waiting, ...]:
    """All of a user's requests, in their order."""
    return tuple(waiting_of(request, user_id) for request in requests)


def request_entry(request: Request, user_id: str) -> RequestEntry:
    """A Request entry: the other user is a stranger, so nothing of them is shown but the name."""
    incoming = request.sender_id != user_id
    other_id, name = (
        (request.sender_id, request.sender_name)
        if incoming
        else (request.recipient_id, request.recipient_name)
    )
    created_at = iso(request.created_at_ms)
    return RequestEntry(
        id=request.id,
        sender_id=request.sender_id,
        recipient_id=request.recipient_id,
        direction="incoming" if incoming else "outgoing",
        note=request.note,
        created_at=created_at,
        expires_at=iso(request.expires_at_ms),
        player=Player(other_id, name, False, Status("OFFLINE", created_at), None),
    )


def own_parts(state: FriendsState) -> list[bytes]:
    """The `own_part` of each Friend entry, in the order of `FriendsState.friends`."""
    if not state.extras:
        return [own_part(record, None) for record in _records(state)]
    extras = [state.extras.get(friend.id) for friend in state.friends]
    return [own_part(record, extra) for record, extra in zip(_records(state), extras, strict=True)]


def own_part(record: bytes, extra: Extra | None) -> bytes:
    """The part of a Friend entry that the user determines, to the end of the entry, or to its streak if it may have
    one.

    Args:
        record, extra: the link's record, and its note and streak if it has any.
    """
    created_at_ms, accepted_at_ms, updated_at_ms, choices = RECORD.unpack(record)
    part = b'%b,"createdAt":"%b","acceptedAt":"%b","updatedAt":"%b"' % (
        _plain_choice(choices) if extra is None else _choice(choices, extra.note),
        iso(created_at_ms).encode(),
        iso(accepted_at_ms).encode(),
        iso(updated_at_ms).encode(),
    )
    return part + NO_STREAK if extra is None else part


def whole(part: bytes, record: bytes, extra: Extra | None, now_ms: int) -> bytes:
    """A Friend entry.

    Args:
        part: the part that the friend determines, as the viewer sees it.
        record, extra: the link's record, and its note and streak if it has any.
        now_ms: epoch milliseconds, because a streak ends with time.
    """
    own = own_part(record, extra)
    return part + own if extra is None else part + own + _streak(extra, now_ms)


def snapshot(
    watched: WatchedUsers,
    restrictions: Mapping[str, Restriction],
    state: FriendsState,
    owns: Sequence[bytes],
    now_ms: int,
) -> bytes:
    """The `friends_snapshot`.

    Args:
        watched: all users who are watched.
        restrictions: {friend id: what they hide from the viewer}.
        state: the viewer's friends and requests.
        owns: the `own_parts` of that state.
        now_ms: epoch milliseconds: requests past their expiry are left out, and streaks end.
    """
    shown: list[bytes] = []
    online = 0
    for friend, own in zip(state.friends, owns, strict=True):
        if restrictions and friend.id in restrictions:
            restriction = restrictions[friend.id]
            part = watched.part(friend, restriction)
            online += friend.online_since_ms is not None and restriction != "HIDDEN"
        else:
            part = friend.shown or watched.part(friend, "DEFAULT")
            online += friend.online_since_ms is not None
        shown.append(part + own)
    if state.extras:
        for index, friend in enumerate(state.friends):
            if friend.id in state.extras:
                shown[index] += _streak(state.extras[friend.id], now_ms)
    incoming = [one.record for one in state.waiting if one.incoming and one.expires_at_ms > now_ms]
    outgoing = [one.record for one in state.waiting if not one.incoming and one.expires_at_ms > now_ms]
    return (
        b'{"type":"friends_snapshot","friends":[%b],"counts":{"total":%d,"favorites":%d,"online":%d},'
        b'"requests":{"incoming":[%b],"outgoing":[%b]}}'
        % (b",".join(shown), len(shown), state.favorites, online, b",".join(incoming), b",".join(outgoing))
    )


def _records(state: FriendsState) -> list[bytes]:
    return [state.record(index) for index in range(len(state.friends))]


def _streak(extra: Extra, now_ms: int) -> bytes:
    return b',"flameStreak":%b}' % msgspec.json.encode(flame_streak(extra, now_ms))


def _choice(choices: int, note: str | None) -> bytes:
    return b',"favorite":%b,"visibility":"%b","note":%b' % (
        b"true" if choices & 1 else b"false",
        VISIBILITIES[choices >> 1].encode(),
        msgspec.json.encode(note),
    )


@lru_cache(maxsize=6)
def _plain_choice(choices: int) -> bytes:
    return _choice(choices, None)
