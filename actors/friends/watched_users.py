"""How a user appears to their friends: encoded once, and shared by all who see the same.

A `WatchedUser` is kept only for a user who has viewers, and knows them: a change of a user costs as much as they have
viewers, and nothing for a user without.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec

from actors.friends.public import Appearance, FriendPart, Player, Status
from actors.friends.visibility import Visibilities
from actors.time import iso, iso_or_none
from actors.users.presence import Presence
from persistence.friends.visibilities import Visibility

ENCODED_KEPT = 16_384
"""Most users whose encoded part is kept, about 0.5 KB each; for others it is encoded anew for each frame."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sources:
    """Where it is found out how users appear.

    Args:
        presence: knows who is online.
        visibilities: who hides what from whom.
        party_of: returns the id of the party that a user is in; None for none.
        last_seen_ms: returns when a user last did anything, epoch milliseconds, given what rows say.
        started_at_ms: the service's start, epoch milliseconds: a user who has not been online since went offline then
            at the latest.
    """

    presence: Presence
    visibilities: Visibilities
    party_of: Callable[[str], str | None]
    last_seen_ms: Callable[[str, int | None], int | None]
    started_at_ms: int


class WatchedUser:
    """One user whom friends watch.

    Args:
        id, name: the user's id and name.
        seen_at_ms: when they last did anything as rows say, epoch milliseconds; None if never.

    Attributes:
        online_since_ms: since when they are online, epoch milliseconds, as last told; None when they are not.
        viewers: the ids of the live views that show this user.
    """

    __slots__ = ("id", "limited", "name", "online_since_ms", "seen_at_ms", "shown", "viewers")

    def __init__(self, id: str, name: str, seen_at_ms: int | None) -> None:
        self.id = id
        self.name = name
        self.seen_at_ms = seen_at_ms
        self.online_since_ms: int | None = None
        self.viewers: list[str] = []
        self.shown: bytes | None = None
        self.limited: bytes | None = None


class WatchedUsers:
    """All users who are watched, and who watches them.

    Args:
        sources: where it is found out how users appear.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._users: dict[str, WatchedUser] = {}
        self._encoded: dict[WatchedUser, None] = {}  # those with bytes, the longest encoded first
        # {user id: live views that show a request from or to them}
        self._request_viewers: dict[str, list[str]] = {}

    def __len__(self) -> int:
        return len(self._users)

    # -- who watches whom ---------------------------------------------------------------------------

    def share(self, user: WatchedUser, viewer_id: str) -> WatchedUser:
        """The shared record of a user, watched by one viewer more.

        Args:
            user: one made of the user's rows, which becomes the shared one if this user had no viewers.
            viewer_id: the id of the viewer, who does not watch the user yet.
        """
        known = self._users.get(user.id)
        if known is None:
            known = self._users[user.id] = user
            user.online_since_ms = self._sources.presence.told_since_ms(user.id)
        known.viewers.append(viewer_id)
        return known

    def leave(self, user: WatchedUser, viewer_id: str) -> None:
        """Note that the viewer no longer watches this user."""
        user.viewers.remove(viewer_id)
        if not user.viewers:
            del self._users[user.id]
            self._encoded.pop(user, None)

    def add_request_viewer(self, user_id: str, viewer_id: str) -> None:
        """Note that the viewer is shown a request between the two, so that a rename of the user reaches them."""
        self._request_viewers.setdefault(user_id, []).append(viewer_id)

    def remove_request_viewer(self, user_id: str, viewer_id: str) -> None:
        """Note that the viewer is no longer shown a request between the two."""
        viewers = self._request_viewers[user_id]
        viewers.remove(viewer_id)
        if not viewers:
            del self._request_viewers[user_id]

    def request_viewers(self, user_id: str) -> Sequence[str]:
        """The ids of the viewers who are shown a request from or to this user."""
        return tuple(self._request_viewers.get(user_id, ()))

    # -- what has changed ---------------------------------------------------------------------------

    def presence_changed(self, user_id: str) -> Sequence[str]:
        """Take in that a user is online now, or no longer, or since another moment; returns the ids of the viewers who
        see that.
        """
        user, since_ms = self._users.get(user_id), self._sources.presence.told_since_ms(user_id)
        if user is None or user.online_since_ms == since_ms:
            return ()
        user.online_since_ms = since_ms
        return self._changed(user, hidden_by=("HIDDEN",))

    def party_changed(self, user_id: str) -> Sequence[str]:
        """Take in that a user is in another party now, or in none; returns the ids of the viewers who see that."""
        user = self._users.get(user_id)
        return () if user is None else self._changed(user, hidden_by=("HIDDEN", "LIMITED"))

    def renamed(self, user_id: str, name: str) -> Sequence[str]:
        """Take in that a user has another `name` now; returns the ids of the viewers who see that."""
        user = self._users.get(user_id)
        if user is None or user.name == name:
            return ()
        user.name = name
        return self._changed(user, hidden_by=())

    def _changed(self, user: WatchedUser, *, hidden_by: Iterable[Visibility]) -> Sequence[str]:
        user.shown = user.limited = None
        of = self._sources.visibilities.of
        return [viewer_id for viewer_id in user.viewers if of(user.id, viewer_id) not in hidden_by]

    # -- how they look ------------------------------------------------------------------------------

    def appearance(self, user_id: str, viewer_id: str, last_seen_at_ms: int | None = None) -> Appearance:
        """What one user sees of another now.

        Args:
            last_seen_at_ms: when rows say that they were last seen, epoch milliseconds; used unless this process knows
                better.
        """
        sources = self._sources
        visibility = "DEFAULT" if user_id == viewer_id else sources.visibilities.of(user_id, viewer_id)
        return _appearance(sources, user_id, visibility, last_seen_at_ms)

    def part(self, user: WatchedUser, visibility: Visibility) -> bytes:
        """The friend's part of a Friend entry: JSON without its closing brace.

        Args:
            visibility: what the viewer may see of the friend.
        """
        if visibility == "HIDDEN":
            return self._encode(user, visibility)
        known = user.limited if visibility == "LIMITED" else user.shown
        if known is not None:
            return known
        made = self._encode(user, visibility)
        if visibility == "LIMITED":
            user.limited = made
        else:
            user.shown = made
        self._encoded[user] = None
        if len(self._encoded) > ENCODED_KEPT:
            oldest = next(iter(self._encoded))
            del self._encoded[oldest]
            oldest.shown = oldest.limited = None
        return made

    def _encode(self, user: WatchedUser, visibility: Visibility) -> bytes:
        seen = _appearance(self._sources, user.id, visibility, user.seen_at_ms)
        player = Player(user.id, user.name, seen.online, seen.status, seen.party_id)
        part = FriendPart(
            user.id, user.name, seen.online, seen.status, seen.party_id, seen.last_seen_at, player
        )
        return msgspec.json.encode(part)[:-1]


def _appearance(
    sources: Sources, user_id: str, visibility: Visibility, last_seen_at_ms: int | None
) -> Appearance:
    presence = sources.presence
    if visibility == "HIDDEN":
        # As of somebody who has not been here since the start: nothing that happened since may show.
        return Appearance(False, Status("OFFLINE", iso(sources.started_at_ms)), None, None)
    since_ms = presence.told_since_ms(user_id)
    if since_ms is None:
        status = Status("OFFLINE", iso(presence.offline_since_ms(user_id) or sources.started_at_ms))
    else:
        status = Status("ONLINE", iso(since_ms))
    if visibility == "LIMITED":
        return Appearance(since_ms is not None, status, None, None)
    return Appearance(
        since_ms is not None,
        status,
        sources.party_of(user_id),
        iso_or_none(sources.last_seen_ms(user_id, last_seen_at_ms)),
    )
