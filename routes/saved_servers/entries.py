"""Saved public servers as they cross the wire (service-api §2 Saved public server)."""

from collections.abc import Sequence

from actors.saved_servers.units import Placed
from persistence.saved_servers.rows import Saved
from routes.edge.wire import Wire


class SavedServer(Wire, frozen=True):
    """A public server in somebody's list.

    Args:
        id: of the public server.
        saved_position: its place in the whole list, from 0.
        favorite: it is among the favourites of whose list it is.
        favorite_count: how many users have it among theirs.
    """

    id: str
    address: str
    display_name: str
    saved: bool
    saved_position: int
    favorite: bool
    favorite_count: int


class SavedCounts(Wire, frozen=True):
    """Of the whole list, whatever part of it is shown."""

    total: int
    favorites: int


class SavedServers(Wire, frozen=True):
    """A list of saved servers, in its owner's order.

    Args:
        server_ids: of `items`.
    """

    items: list[SavedServer]
    server_ids: list[str]
    counts: SavedCounts


def entry_of(placed: Placed) -> SavedServer:
    """One of a list."""
    saved = placed.saved
    return SavedServer(
        saved.server_id,
        saved.address,
        saved.display_name,
        True,
        placed.position,
        saved.favorite,
        saved.favorites,
    )


def list_of(saved: Sequence[Saved], *, favorites_only: bool = False) -> SavedServers:
    """A whole list, or the favourites in it."""
    items = [
        entry_of(Placed(one, place)) for place, one in enumerate(saved) if one.favorite or not favorites_only
    ]
    counts = SavedCounts(len(saved), sum(one.favorite for one in saved))
    return SavedServers(items, [item.id for item in items], counts)
