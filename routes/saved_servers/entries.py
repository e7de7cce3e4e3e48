"""The wire form of saved public servers (service-api §2 Saved public server)."""

from collections.abc import Sequence

from actors.saved_servers.units import Placed
from persistence.saved_servers.rows import Saved
from routes.edge.wire import Wire


class SavedServer(Wire, frozen=True):
    """A public server in a user's list.

    Args:
        id: id of the public server.
        address: `host` or `host:port`.
        saved: always true.
        saved_position: its position in the whole list, from 0.
        favorite: whether it is a favourite of the list's owner.
        favorite_count: how many users have it among their favourites.
    """

    id: str
    address: str
    display_name: str
    saved: bool
    saved_position: int
    favorite: bool
    favorite_count: int


class SavedCounts(Wire, frozen=True):
    """Counts of the whole list, also if only a part of it is shown.

    Args:
        total: how many servers are saved.
        favorites: how many of them are favourites.
    """

    total: int
    favorites: int


class SavedServers(Wire, frozen=True):
    """A list of saved servers, in its owner's order.

    Args:
        server_ids: the ids of `items`.
    """

    items: list[SavedServer]
    server_ids: list[str]
    counts: SavedCounts


def entry_of(placed: Placed) -> SavedServer:
    """The wire form of one saved server."""
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
    """The wire form of a list.

    Args:
        saved: the whole list, in its order.
        favorites_only: show only its favourites; positions and counts are still those of the whole list.
    """
    items = [
        entry_of(Placed(one, place)) for place, one in enumerate(saved) if one.favorite or not favorites_only
    ]
    counts = SavedCounts(len(saved), sum(one.favorite for one in saved))
    return SavedServers(items, [item.id for item in items], counts)
