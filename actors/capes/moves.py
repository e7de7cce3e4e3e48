"""Which moves a cape's owner and moderators have in each state: one table (service-api §3, contract §8).

A pending or approved cape stays as its moderators saw it: it cannot be edited before it is withdrawn or returned.
"""

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Literal, TypeAlias

from actors.errors import Conflict
from persistence.capes.rows import CapeStatus

Verdict: TypeAlias = Literal["private", "pending", "approved", "blocked"]
"""The states that a moderator can give a cape."""


class Verb(Enum):
    """What an owner can do with a cape."""

    EDIT = "edit"
    SUBMIT = "submit"
    WITHDRAW = "withdraw"
    DELETE = "delete"


GONE = None

OWNER_MOVES: Mapping[CapeStatus, Mapping[Verb, CapeStatus | None]] = MappingProxyType(
    {
        "draft": {Verb.EDIT: "draft", Verb.SUBMIT: "pending", Verb.DELETE: GONE},
        "pending": {Verb.WITHDRAW: "private", Verb.DELETE: GONE},
        "approved": {Verb.DELETE: GONE},
        "private": {Verb.EDIT: "private", Verb.SUBMIT: "pending", Verb.DELETE: GONE},
        "blocked": {Verb.EDIT: "blocked", Verb.DELETE: GONE},
    }
)
"""{state: {verb: state afterwards}}; a move that is not here is a 409. Moderators give any verdict in any state."""


def moved(status: CapeStatus, verb: Verb) -> CapeStatus:
    """The state after a move of the owner's. For moves that leave a cape behind, so not for `DELETE`.

    Raises:
        Conflict: the state does not have this move.
    """
    after = OWNER_MOVES[status].get(verb)
    if after is None:
        raise Conflict(f"a cape that is {status} cannot take {verb.value}", status=status)
    return after
