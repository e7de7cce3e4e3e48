"""How a change between two users gets its number, and how other processes hear of it."""

from typing import Literal, TypeVar

import msgspec
from msgspec.structs import replace

from actors.friends.events import LinkChanged, RelationChanged
from persistence.connection import Connection
from persistence.friends import turns

Numbered = TypeVar("Numbered", LinkChanged, RelationChanged)

_decoder: msgspec.json.Decoder[LinkChanged | RelationChanged] = msgspec.json.Decoder(
    LinkChanged | RelationChanged
)


async def numbered(conn: Connection, event: Numbered) -> Numbered:
    """Give a change its number, and announce it.

    Args:
        event: the change, whose `turn` is replaced. The transaction must have locked all rows that it concerns.
    """
    turn = await turns.announce(conn, msgspec.json.encode(event).decode())
    return replace(event, turn=turn)


def heard(payload: str) -> LinkChanged | RelationChanged | Literal["erased", "unknown"]:
    """The change that a NOTIFY tells of.

    `erased`: a user was erased, who may have had a relation to any number of others. `unknown`: anything may have
    changed, because a NOTIFY was missed, or another release has announced it in a form that this one does not know.
    """
    turn, space, change = payload.partition(" ")
    if space and not change:
        return "erased"
    try:
        return replace(_decoder.decode(change), turn=int(turn))
    except msgspec.DecodeError:
        return "unknown"
