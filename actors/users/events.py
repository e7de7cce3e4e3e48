"""Events of users' rows, for the parts of the service that cache something about users."""

import msgspec


class UserChanged(msgspec.Struct, frozen=True):
    """A user's row, rights or settings have changed."""

    user_id: str


class NodeAdded(msgspec.Struct, frozen=True):
    """A permission node was put into the catalog, if it was not there before."""

    node: str


class NodesRemoved(msgspec.Struct, frozen=True):
    """Permission nodes were removed from the catalog, with all grants of them."""

    nodes: tuple[str, ...]


class NodeWithdrawn(msgspec.Struct, frozen=True):
    """A permission node that grants by being absent was taken out of the catalog."""

    node: str


class TokensRevoked(msgspec.Struct, frozen=True):
    """A user's tokens issued before a time are no longer valid.

    Args:
        not_before_s: epoch seconds of the first valid `iat`.
    """

    user_id: str
    not_before_s: int


class UserErased(msgspec.Struct, frozen=True):
    """A user was erased.

    Args:
        others: {id of another user: whether that user blocked them}, of all users whose friendships, requests, blocks
            or former friendships' visibility involved the erased one.
        turn: the number of the erasure among all changes between users, as in `RelationChanged` of friends.
    """

    user_id: str
    others: dict[str, bool]
    turn: int
