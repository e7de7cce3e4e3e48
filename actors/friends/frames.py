"""The bytes of the live friends: entries and snapshots, joined from what was encoded before.

A Friend entry is four pieces: what the friend determines (`Faces.part`, shared by all who watch them), what the
user has chosen for them (few different ones, shared as long as there is no note), the times of the link, and the
flame streak, which alone depends on the moment.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal

import msgspec

from actors.friends.faces import Face, Faces
from actors.friends.public import FriendEntry, Player, RequestEntry, Requests, Shown, Status, flame_streak
from actors.friends.visibility import Veil
from actors.time import iso
from persistence.friends.links import Link
from persistence.friends.requests import Request
from persistence.friends.visibilities import Visibility

NO_STREAK = b',"flameStreak":null}'


class Entry(msgspec.Struct, frozen=True, gc=False, eq=False):
    """One friend.

    Args:
        face: the friend as they appear.
        choice: favourite, visibility and note, encoded.
        times: of the link, encoded.
        favorite: whether they are one.
        streak: the link's row where it has a flame streak.
    """

    face: Face
    choice: bytes
    times: bytes
    favorite: bool
    streak: Link | None

    def same(self, other: "Entry") -> bool:
        """Whether both say the same of the link."""
        return self.choice == other.choice and self.times == other.times and self.streak == other.streak


class FriendCounts(Shown, frozen=True):
    """How many friends, favourites among them, and friends who appear online."""

    total: int
    favorites: int
    online: int


class FriendsFrame(Shown, frozen=True):
    """The live frame of friends: all of them, at once and whenever something has changed (service-api §6)."""

    type: Literal["friends_snapshot"]
    friends: tuple[FriendEntry, ...]
    counts: FriendCounts
    requests: Requests


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """One request.

    Args:
        incoming: somebody else has sent it.
        record: the Request entry, encoded.
    """

    id: str
    incoming: bool
    expires_at_ms: int
    record: bytes


def entry_of(link: Link) -> Entry:
    """The entry of a link, with a face that is not shared yet."""
    times = b',"createdAt":"%b","acceptedAt":"%b","updatedAt":"%b"' % (
        iso(link.created_at_ms).encode(),
        iso(link.accepted_at_ms).encode(),
        iso(link.updated_at_ms).encode(),
    )
    return Entry(
        Face(link.friend_id, link.name, link.last_seen_at_ms),
        _choice(link.favorite, link.visibility, link.note),
        times,
        link.favorite,
        link if flame_streak(link, 0) is not None else None,
    )


def waiting_of(request: Request, user_id: str) -> Waiting:
    """A request as one of the two sees it."""
    incoming = request.sender_id != user_id
    return Waiting(
        request.id, incoming, request.expires_at_ms, msgspec.json.encode(request_entry(request, user_id))
    )


def request_entry(request: Request, user_id: str) -> RequestEntry:
    """A Request entry: the other is a stranger, so nothing of them shows but the name."""
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


def whole(part: bytes, entry: Entry, now_ms: int) -> bytes:
    """A Friend entry.

    Args:
        part: the friend's, as the viewer sees it.
    """
    return b"".join((part, entry.choice, entry.times, _tail(entry, now_ms)))


def snapshot(
    faces: Faces,
    veils: Mapping[str, Veil],
    entries: Sequence[Entry],
    waiting: Sequence[Waiting],
    now_ms: int,
) -> bytes:
    """The `friends_snapshot`.

    Args:
        veils: {friend id: what they hide from the viewer}.
        entries, waiting: the viewer's.
        now_ms: requests past their expiry do not exist.
    """
    shown: list[bytes] = []
    favorites = online = 0
    for entry in entries:
        face = entry.face
        if veils and face.id in veils:
            veil = veils[face.id]
            part = faces.part(face, veil)
            online += face.online and veil != "HIDDEN"
        else:
            part = face.shown or faces.part(face, "DEFAULT")
            online += face.online
        favorites += entry.favorite
        tail = NO_STREAK if entry.streak is None else _tail(entry, now_ms)
        shown.append(part + entry.choice + entry.times + tail)
    incoming = [one.record for one in waiting if one.incoming and one.expires_at_ms > now_ms]
    outgoing = [one.record for one in waiting if not one.incoming and one.expires_at_ms > now_ms]
    return (
        b'{"type":"friends_snapshot","friends":[%b],"counts":{"total":%d,"favorites":%d,"online":%d},'
        b'"requests":{"incoming":[%b],"outgoing":[%b]}}'
        % (b",".join(shown), len(entries), favorites, online, b",".join(incoming), b",".join(outgoing))
    )


def _tail(entry: Entry, now_ms: int) -> bytes:
    if entry.streak is None:
        return NO_STREAK
    return b',"flameStreak":%b}' % msgspec.json.encode(flame_streak(entry.streak, now_ms))


def _choice(favorite: bool, visibility: Visibility, note: str | None) -> bytes:
    return _plain_choice(favorite, visibility) if note is None else _encode_choice(favorite, visibility, note)


def _encode_choice(favorite: bool, visibility: Visibility, note: str | None) -> bytes:
    return b',"favorite":%b,"visibility":"%b","note":%b' % (
        b"true" if favorite else b"false",
        visibility.encode(),
        msgspec.json.encode(note),
    )


@lru_cache(maxsize=6)
def _plain_choice(favorite: bool, visibility: Visibility) -> bytes:
    return _encode_choice(favorite, visibility, None)
