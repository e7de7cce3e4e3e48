"""A user's saved public servers (service-api §4 Profile, contract §8): units of work, inside the
caller's transaction.

Each locks the user's row first, so that changes to one user's list are serialised; then the public server, then its
entry.

A list belongs to its user: nobody else removes an entry, or has it name another address. An entry made by an address is
of that address alone, or of the server or network that has proven it; one made by an id is of the publication named.
What becomes of an entry:

| what happens                                              | the entry                             | its id    |
|-----------------------------------------------------------|---------------------------------------|-----------|
| the publication gets another name                         | has that name                         | the same  |
| it is removed, by itself or with its server or network    | goes on as its address alone          | the same  |
| it gets another address, or its own is proven no longer   | goes on as the address that was saved | a new one |
| a saved address is published by whoever has proven it     | has the publication's name            | the same  |

Place and favourite stay. A client that names an entry by its former id is told that it is not saved; the list has the
new one.
"""

from collections.abc import Sequence

import msgspec

from actors.errors import Invalid, NotFound, QuotaExceeded
from actors.field_errors import FieldError
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.saved_servers import addresses, rows
from persistence.saved_servers.rows import Saved

SAVED_MAX = 500
"""The most servers in one list."""


class Wanted(msgspec.Struct, frozen=True):
    """The server to save: either `server_id` or `address` is set.

    Args:
        server_id: the id of a public server.
        address: the `key` of an `Address`.
        fresh_id: a fresh id for the public server that is created if the address has none.
    """

    server_id: str | None
    address: str | None
    fresh_id: str


class Placed(msgspec.Struct, frozen=True):
    """A saved server and its position in the list.

    Args:
        position: its position, from 0.
        fresh: whether it was added by this call.
    """

    saved: Saved
    position: int
    fresh: bool = False


async def save(conn: Connection, user_id: str, wanted: Wanted, now_ms: int) -> Placed:
    """Append a server to the list; one that is saved already stays where it is.

    Raises:
        NotFound: there is no such public server, or no such user.
        QuotaExceeded: the list is full.
    """
    await require_user(conn, user_id)
    before = await rows.of_user(conn, user_id)
    if wanted.address is not None:
        here = next((one.server_id for one in before if one.address_key == wanted.address), None)
        if here is None and len(before) < SAVED_MAX:
            here = await addresses.find_or_make(conn, wanted.fresh_id, wanted.address, now_ms)
        server_id = here or wanted.fresh_id
    else:
        server_id = wanted.server_id or ""
    place = _find(before, server_id)
    if place is not None:
        return place
    if wanted.server_id is not None and not await rows.hold_known(conn, wanted.server_id):
        raise NotFound("no such server")
    if len(before) >= SAVED_MAX:
        raise QuotaExceeded(message=f"at most {SAVED_MAX} servers are saved", max=SAVED_MAX)
    await rows.add(conn, user_id, server_id, now_ms)
    placed = await _placed(conn, user_id, server_id)
    return Placed(placed.saved, placed.position, fresh=True)


async def remove(conn: Connection, user_id: str, server_id: str) -> int:
    """Remove a server from the list; one that is not in it is no error. A server that was created by saving its
    address is deleted with its last entry in any list.

    Returns:
        How many users have the server among their favourites.

    Raises:
        NotFound: there is no such public server, or no such user.
    """
    await require_user(conn, user_id)
    await addresses.hold(conn, server_id)
    place = _find(await rows.of_user(conn, user_id), server_id)
    if place is None:
        if not await rows.is_known(conn, server_id):
            raise NotFound("no such server")
    else:
        await rows.remove(conn, user_id, server_id)
        await addresses.drop_unsaved(conn, [server_id])
    return await rows.count_favorites(conn, server_id)


async def set_favorite(conn: Connection, user_id: str, server_id: str, favorite: bool | None) -> Placed:
    """Mark a saved server as a favourite, or remove the mark.

    Args:
        favorite: whether it is to be a favourite; None changes nothing.

    Raises:
        NotFound: the server is not in the list, or there is no such user.
    """
    await require_user(conn, user_id)
    if favorite is not None:
        await rows.set_favorite(conn, user_id, server_id, favorite)
    return await _placed(conn, user_id, server_id)


async def arrange(conn: Connection, user_id: str, server_ids: Sequence[str]) -> list[Saved]:
    """Reorder the list.

    Args:
        server_ids: the ids of all saved servers in the new order, each exactly once.

    Raises:
        Invalid: an entry is unknown, named twice or missing.
        NotFound: there is no such user.
    """
    await require_user(conn, user_id)
    before = {one.server_id for one in await rows.of_user(conn, user_id)}
    _check_order(before, server_ids)
    await rows.arrange(conn, user_id, server_ids)
    return await rows.of_user(conn, user_id)


def _check_order(saved: set[str], server_ids: Sequence[str]) -> None:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for place, server_id in enumerate(server_ids):
        if server_id not in saved:
            errors.append(FieldError(f"/serverIds/{place}", "UNKNOWN", "this server is not saved"))
        elif server_id in seen:
            errors.append(FieldError(f"/serverIds/{place}", "DUPLICATE", "this server is named twice"))
        seen.add(server_id)
    if not errors and len(seen) < len(saved):
        errors.append(FieldError("/serverIds", "REQUIRED", "name every saved server"))
    if errors:
        raise Invalid(*errors)


async def _placed(conn: Connection, user_id: str, server_id: str) -> Placed:
    place = _find(await rows.of_user(conn, user_id), server_id)
    if place is None:
        raise NotFound("this server is not saved")
    return place


def _find(saved: Sequence[Saved], server_id: str) -> Placed | None:
    return next((Placed(one, place) for place, one in enumerate(saved) if one.server_id == server_id), None)
