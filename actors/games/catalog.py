"""A game of the catalog, and the line of an imported file that describes one (contract §10)."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

from persistence.connection import Connection
from persistence.games import games
from persistence.games.games import GameRow

GAMES_MAX = 500
"""Most games in the catalog: each frame shows all of them."""

GameId = Annotated[str, msgspec.Meta(pattern="^[a-z0-9-]{2,32}$", max_length=32)]
"""The id of a game, which publications name as their category."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Mode(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A way to play a game.

    Args:
        mode: the mode's name.
        variants: the names of the mode's variants, 0 to 32.
        round_based: whether it is played in rounds that players wait for.
    """

    mode: Name
    variants: Annotated[tuple[Name, ...], msgspec.Meta(max_length=32)] = ()
    round_based: bool = False


class GameLine(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A line of a file to import: a game, in place of the one with its id.

    Args:
        modes: the ways to play it, 0 to 32.
    """

    kind: Literal["game"]
    game_id: GameId
    name: Name
    modes: Annotated[tuple[Mode, ...], msgspec.Meta(max_length=32)] = ()

    def row(self) -> GameRow:
        """The game as the catalog keeps it."""
        return GameRow(self.game_id, self.name, msgspec.json.encode(self.modes))


async def add_games(conn: Connection, rows: Sequence[GameRow]) -> bool:
    """Add games to the catalog, in place of those with the same ids, inside a transaction; returns False, and adds
    none, if the catalog would have more than `GAMES_MAX`.

    Args:
        rows: the games, at most one for each id.
    """
    await games.lock(conn)
    known = {row.game_id for row in await games.read_all(conn)}
    if len(known | {row.game_id for row in rows}) > GAMES_MAX:
        return False
    await games.put(conn, rows)
    return True
