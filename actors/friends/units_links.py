"""What a user chooses for a friend: whether they are a favourite, what they see, a note (contract §5)."""

import msgspec

from actors.change import Change
from actors.errors import NotFound
from actors.friends.announcing import numbered
from actors.friends.events import LinkChanged
from actors.ids import UserId
from persistence.connection import Connection
from persistence.friends import links
from persistence.friends.links import Link
from persistence.friends.visibilities import Visibility


class Choice(msgspec.Struct, frozen=True):
    """Changes to a link. None leaves a field as it is, but deletes the note: UNSET leaves the note as it is."""

    favorite: bool | None = None
    visibility: Visibility | None = None
    note: str | msgspec.UnsetType | None = msgspec.UNSET


def visibility_named(text: str) -> Visibility:
    """The visibility with this name; `DEFAULT` for any other text (service-api §2)."""
    match text:
        case "LIMITED" | "HIDDEN":
            return text
        case _:
            return "DEFAULT"


async def choose(
    conn: Connection,
    user_id: UserId,
    friend_id: UserId,
    choice: Choice,
    *,
    now_ms: int,
) -> Change[Link]:
    """Change a link; a unit of work for one transaction. Without an effective change nothing is written, nor told.

    Raises:
        NotFound: the two are not friends.
    """
    note = choice.note
    changed = await links.change(
        conn,
        user_id,
        friend_id,
        favorite=choice.favorite,
        visibility=choice.visibility,
        note=None if isinstance(note, msgspec.UnsetType) else note,
        keep_note=isinstance(note, msgspec.UnsetType),
        now_ms=now_ms,
    )
    found = await links.named(conn, user_id, (friend_id,))
    if not found:
        raise NotFound("no such friend")
    (link,) = found
    if not changed:
        return Change(link)
    return Change(link, (await numbered(conn, LinkChanged(user_id, friend_id, link.visibility)),))
