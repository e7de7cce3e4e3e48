"""What happens to users in rows, for whoever keeps something of them in memory."""

import msgspec


class UserChanged(msgspec.Struct, frozen=True):
    """A user's row, rights or settings are others."""

    user_id: str


class NodeAdded(msgspec.Struct, frozen=True):
    """The catalog of permissions has a node that it may not have had before."""

    node: str


class TokensRevoked(msgspec.Struct, frozen=True):
    """Of a user's tokens only those are believed that were issued from this second on.

    Args:
        not_before_s: epoch seconds.
    """

    user_id: str
    not_before_s: int


class UserErased(msgspec.Struct, frozen=True):
    """A user is gone.

    Args:
        others: {other user: whether that one blocked them} of everybody between whom and the user there was anything.
    """

    user_id: str
    others: dict[str, bool]
