"""A game of the catalog, and the line of an imported file that describes one (contract §10)."""

from typing import Annotated

import msgspec

from persistence.games.games import GameRow

GAMES_MAX = 500
"""Most games that the catalog shows and counts: frames show all of them."""

GameId = Annotated[str, msgspec.Meta(pattern="^[a-z0-9-]{2,32}$", max_length=32)]
"""Id of a game: what publications name as their category."""

Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Mode(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """A way to play a game.

    Args:
        variants: their names, 0 to 32.
        round_based: it is played in rounds that players wait for.
    """

    mode: Name
    variants: Annotated[tuple[Name, ...], msgspec.Meta(max_length=32)] = ()
    round_based: bool = False


class GameLine(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, tag_field="kind", tag="game"
):
    """A line of a file to import: a game, in place of the one with its id.

    Args:
        modes: 0 to 32.
    """

    game_id: GameId
    name: Name
    modes: Annotated[tuple[Mode, ...], msgspec.Meta(max_length=32)] = ()

    def row(self) -> GameRow:
        """The game as the catalog keeps it."""
        return GameRow(self.game_id, self.name, msgspec.json.encode(self.modes))
