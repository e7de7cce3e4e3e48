"""The table of moves: what each act of one user on another makes of their relation (service-api §3, contract §5).

A table: no friendship and no request exists while one of the two blocks the other, and all that ends it is there.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import TypeAlias

from actors.errors import AlreadyFriends, Blocked, NotFound, Refused, RequestExists


class Relation(Enum):
    """What is between two users, as the one who acts sees it."""

    NONE = "nothing"
    SENT = "a request of theirs waits"
    RECEIVED = "a request of the other waits"
    FRIENDS = "they are friends"
    BLOCKING = "they block the other"
    BLOCKED = "the other blocks them"
    ESTRANGED = "each blocks the other"


class Move(Enum):
    """What the one who acts can do."""

    SEND = "send"
    ACCEPT = "accept"
    DECLINE = "decline"
    CANCEL = "cancel"
    REMOVE = "remove"
    BLOCK = "block"
    UNBLOCK = "unblock"


Outcome: TypeAlias = Relation | type[Refused]
"""The relation of the two afterwards, or the refusal where nothing has changed."""

_ORDER = tuple(Relation)

# From each standing, in the order above:  -, sent, received, friends, blocking, blocked, estranged
_ROWS: Mapping[Move, tuple[Outcome, ...]] = {
    Move.SEND: (
        Relation.SENT, RequestExists, Relation.FRIENDS, AlreadyFriends, Blocked, Blocked, Blocked,
    ),
    Move.ACCEPT: (
        NotFound, NotFound, Relation.FRIENDS, NotFound, Blocked, Blocked, Blocked,
    ),
    Move.DECLINE: (
        NotFound, NotFound, Relation.NONE, NotFound, NotFound, NotFound, NotFound,
    ),
    Move.CANCEL: (
        NotFound, Relation.NONE, Relation.NONE, NotFound, NotFound, NotFound, NotFound,
    ),
    Move.REMOVE: (
        NotFound, NotFound, NotFound, Relation.NONE, NotFound, NotFound, NotFound,
    ),
    Move.BLOCK: (
        Relation.BLOCKING, Relation.BLOCKING, Relation.BLOCKING, Relation.BLOCKING, Relation.BLOCKING,
        Relation.ESTRANGED, Relation.ESTRANGED,
    ),
    Move.UNBLOCK: (
        NotFound, NotFound, NotFound, NotFound, Relation.NONE, NotFound, Relation.BLOCKED,
    ),
}  # fmt: skip

MOVES: Mapping[tuple[Relation, Move], Outcome] = MappingProxyType(
    {(standing, move): row[place] for move, row in _ROWS.items() for place, standing in enumerate(_ORDER)}
)
"""{(what is between the two, what the acting one does): what comes of it}."""


def standing_of(*, linked: bool, blocks: bool, blocked: bool, sent: bool, received: bool) -> Relation:
    """What is between two users, from what their rows say; a block hides whatever else there may be.

    Args:
        linked: whether they are friends.
        blocks, blocked: whether the one who acts blocks the other, and is blocked by them.
        sent, received: whether a request waits that the one who acts has sent, or has received.
    """
    if blocks or blocked:
        if blocks and blocked:
            return Relation.ESTRANGED
        return Relation.BLOCKING if blocks else Relation.BLOCKED
    if linked:
        return Relation.FRIENDS
    if received:
        return Relation.RECEIVED
    return Relation.SENT if sent else Relation.NONE


def after(standing: Relation, move: Move) -> Relation:
    """The relation of the two after a move, by the table.

    Raises:
        NotFound, Blocked, AlreadyFriends, RequestExists: the table has no such move.
    """
    outcome = MOVES[standing, move]
    if isinstance(outcome, Relation):
        return outcome
    raise outcome
