"""What happens between users in rows, for the live side of friends and for other domains that react to it."""

import msgspec

from persistence.friends.visibilities import Visibility


class Between(msgspec.Struct, frozen=True):
    """How two users stand, as far as memory holds it.

    Args:
        friends: whether the two are friends.
        visibilities: {id of one: what the other may see of them}; where they are not friends, only of those who still
            hide from the other.
        blockers: the ids of those of the two who block the other.
    """

    friends: bool
    visibilities: dict[str, Visibility]
    blockers: frozenset[str]


class RelationChanged(msgspec.Struct, frozen=True, tag=True):
    """A friendship, a block or a request between two may have begun or ended.

    Args:
        between: how the two stand now.
        turn: the number of the change, taken while the rows of both users were locked: of two changes, the one with the
            greater number is the later. 0 until it is taken.
    """

    one_id: str
    other_id: str
    between: Between
    turn: int = 0


class RequestEnded(msgspec.Struct, frozen=True):
    """A friend request was declined, withdrawn or has expired: it waits no longer, and no friendship came of it."""

    one_id: str
    other_id: str


class LinkChanged(msgspec.Struct, frozen=True, tag=True):
    """The holder of a link has chosen something for their friend.

    Args:
        visibility: what the friend may see of the holder now.
        turn: the number of the change, as in `RelationChanged`.
    """

    holder_id: str
    friend_id: str
    visibility: Visibility
    turn: int = 0
