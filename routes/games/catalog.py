"""The catalog of games (contract §10)."""

import msgspec

from actors.games.catalog import Mode
from persistence.games import games
from persistence.games.games import GameRow
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire

KEPT = "private, max-age=60"
"""Cache-Control of the catalog."""


class GameOut(Wire, frozen=True):
    """A game that publications may name as their category.

    Args:
        modes: the ways to play it.
    """

    game_id: str
    name: str
    modes: tuple[Mode, ...]


class GameCatalog(Wire, frozen=True):
    """The games, ordered by name."""

    items: list[GameOut]


@endpoint("GET", "/v1/games/catalog", needs=AUTHENTICATED, cacheable=KEPT)
async def read_game_catalog(call: Call) -> GameCatalog:
    """The games that are counted, with their modes, ordered by name."""
    rows = await call.service.database.read(games.read_all)
    return GameCatalog([_shown(row) for row in rows])


def _shown(row: GameRow) -> GameOut:
    return GameOut(row.game_id, row.name, msgspec.json.decode(row.modes, type=tuple[Mode, ...]))
