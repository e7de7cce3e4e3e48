"""What memory holds of one user's friends and requests: few bytes, because every open socket has a view of them.

A link is a record of 25 bytes, in the order of the friends; the note and the streak, which few links have, stand beside
them. JSON is made of it when a frame wants it (`frames.py`).
"""

from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from sys import intern

import msgspec

from actors.friends.watched_users import WatchedUser
from persistence.friends.links import Link
from persistence.friends.visibilities import Visibility

RECORD = Struct("<qqqB")
"""Created, accepted, updated (epoch milliseconds), and the choices: 1 for a favourite, 2 for each place in
`VISIBILITIES`."""

VISIBILITIES: tuple[Visibility, ...] = ("DEFAULT", "LIMITED", "HIDDEN")

FAVORITES = (1, 3, 5)
"""The values of a record's choices that make the friend a favourite."""


class Extra(msgspec.Struct, frozen=True, gc=False):
    """The parts that few links have: a note, or a flame streak."""

    note: str | None
    first_day: int | None
    last_day: int | None
    last_contact_ms: int | None


NO_EXTRAS: Mapping[str, Extra] = {}


class Waiting(msgspec.Struct, frozen=True, gc=False):
    """One request.

    Args:
        other_id: the other user, who has sent it or to whom it was sent.
        incoming: whether the other has sent it.
        record: the Request entry, encoded.
    """

    id: str
    other_id: str
    incoming: bool
    expires_at_ms: int
    record: bytes


class FriendsState(msgspec.Struct, frozen=True):
    """One user's friends and requests.

    Args:
        friends: the friends, in the order of acceptance.
        records: one `RECORD` a friend, in the same order.
        extras: {friend id: note or streak}, for the few links that have one.
        waiting: requests in the order of sending.
    """

    user_id: str
    friends: tuple[WatchedUser, ...] = ()
    records: bytes = b""
    extras: Mapping[str, Extra] = NO_EXTRAS
    waiting: tuple[Waiting, ...] = ()

    @property
    def favorites(self) -> int:
        """How many friends are favourites."""
        choices = self.records[RECORD.size - 1 :: RECORD.size]
        return sum(map(choices.count, FAVORITES))

    def record(self, index: int) -> bytes:
        """The record of the friend in that place."""
        return self.records[index * RECORD.size : (index + 1) * RECORD.size]

    def says_the_same(self, other: "FriendsState") -> bool:
        """Whether two states of a user hold the same rows; of how the friends appear, their names are compared."""
        return (
            self.records == other.records
            and [(friend.id, friend.name) for friend in self.friends]
            == [(friend.id, friend.name) for friend in other.friends]
            and self.extras == other.extras
            and self.waiting == other.waiting
        )

    def links(self) -> dict[str, tuple[WatchedUser, bytes, Extra | None]]:
        """{friend id: all that is known of the link}."""
        return {
            friend.id: (friend, self.record(index), self.extras.get(friend.id))
            for index, friend in enumerate(self.friends)
        }


class Read(msgspec.Struct, frozen=True):
    """Rows of friends and requests.

    Args:
        links: {friend id: link}, in order of acceptance; None for a user who is no longer a friend.
        waiting: all requests of the user.
        whole: whether `links` holds all friends.
    """

    links: Mapping[str, Link | None]
    waiting: tuple[Waiting, ...]
    whole: bool = False


def state_of(user_id: str, found: Sequence[Link], waiting: tuple[Waiting, ...]) -> FriendsState:
    """The state made of rows, as a view loads it; adopting it puts shared `WatchedUser`s in place of its own."""
    return absorb(FriendsState(user_id), Read({link.friend_id: link for link in found}, waiting))


def absorb(state: FriendsState, read: Read) -> FriendsState:
    """The state after a read of friends and all requests.

    Friends that stay keep their shared `WatchedUser`, unless rows have another name.
    """
    fresh = dict(read.links)
    links: list[tuple[WatchedUser, bytes]] = []
    for index, friend in enumerate(state.friends):
        if friend.id not in fresh:
            if not read.whole:
                links.append((friend, state.record(index)))
        elif (link := fresh.pop(friend.id)) is not None:
            links.append((friend if friend.name == link.name else _watched_user(link), _record(link)))
    links += ((_watched_user(link), _record(link)) for link in fresh.values() if link is not None)
    # Also one who is known may have another place: friends who parted and met again between two looks at the rows.
    links.sort(key=_accepted)
    return FriendsState(
        state.user_id,
        tuple(friend for friend, _ in links),
        b"".join(record for _, record in links),
        _extras({} if read.whole else state.extras, read.links.items()),
        read.waiting,
    )


def _watched_user(link: Link) -> WatchedUser:
    return WatchedUser(intern(link.friend_id), intern(link.name), link.last_seen_at_ms)


def _accepted(link: tuple[WatchedUser, bytes]) -> tuple[int, str]:
    friend, record = link
    return RECORD.unpack(record)[1], friend.id


def _record(link: Link) -> bytes:
    choices = link.favorite + 2 * VISIBILITIES.index(link.visibility)
    return RECORD.pack(link.created_at_ms, link.accepted_at_ms, link.updated_at_ms, choices)


def _extras(before: Mapping[str, Extra], read: Iterable[tuple[str, Link | None]]) -> Mapping[str, Extra]:
    extras = dict(before)
    for id, link in read:
        extras.pop(id, None)
        # A contact that has made no streak shows nowhere.
        if link is not None and link.first_day is not None:
            extras[id] = Extra(link.note, link.first_day, link.last_day, link.last_contact_ms)
        elif link is not None and link.note is not None:
            extras[id] = Extra(link.note, None, None, None)
    return extras or NO_EXTRAS
