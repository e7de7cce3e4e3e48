"""The channel `games`: how many play each game now (contract §10).

One view is shown to all, so a second of changes is encoded once for all who watch.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from typing import Literal

import msgspec

from actors.games.counts import GameCounts
from actors.kernel.facets import Delta
from actors.kernel.kind import View
from actors.meanwhile import Meanwhile
from actors.memory_views import memory_view
from actors.time import iso

NAME = "games"
"""The name of the view, of its channel, and of the one id that it has."""

INTERVAL_MS = 1_000
"""Frames are at least this far apart."""


class GamePlayed(msgspec.Struct, frozen=True, rename="camel"):
    """A game, and who plays it now.

    Args:
        players: how many players its servers have together.
        servers: how many servers of it are online and have said so in the last 90 seconds.
        updated_at: the time of the newest status that has counted, or null.
    """

    game_id: str
    name: str
    players: int
    servers: int
    updated_at: str | None


class GamesSnapshot(msgspec.Struct, kw_only=True, frozen=True, rename="camel"):
    """The frame: all games of the catalog, ordered by name."""

    type: Literal["games_snapshot"] = "games_snapshot"
    items: tuple[GamePlayed, ...]


class GamesChanged(msgspec.Struct, frozen=True):
    """The data of `games_changed`: all games of the catalog, ordered by name."""

    items: tuple[GamePlayed, ...]


def games_view(counts: GameCounts) -> View[GamesSnapshot]:
    """The view of these counts."""

    def shown() -> GamesSnapshot:
        return GamesSnapshot(items=tuple(_played(counts)))

    return memory_view(NAME, shown, _delta, interval_ms=INTERVAL_MS)


class LiveGames:
    """The counts and the view that shows them.

    Args:
        counts: the counts of all games.

    Attributes:
        unread: targets whose publication has changed since its category was read.
    """

    def __init__(self, counts: GameCounts) -> None:
        self.counts = counts
        self.view = games_view(counts)
        self.unread: set[str] = set()
        self._changed: Meanwhile[str] = Meanwhile()

    def publication_changed(self, target_id: str) -> None:
        """Note that the publication of a target has changed, so that its category is to be read."""
        self.unread.add(target_id)
        self._changed.told(target_id)

    def reading(self) -> AbstractContextManager[AbstractSet[str]]:
        """Collect the targets whose publication changes while categories are read: what was read of them is
        outdated."""
        return self._changed.reading()

    def tell(self, mark: Callable[[View[GamesSnapshot], str, str], None]) -> None:
        """Have the view marked as changed from now on whenever a number changes.

        Args:
            mark: called with the view, its id and what has changed (`System.changed`).
        """
        self.counts.changed = lambda: mark(self.view, NAME, NAME)


def _played(counts: GameCounts) -> list[GamePlayed]:
    played = []
    for game in counts.catalog:
        count = counts.of(game.game_id)
        at = None if count.at_ms is None else iso(count.at_ms)
        played.append(GamePlayed(game.game_id, game.name, count.players, count.servers, at))
    return played


def _delta(state: GamesSnapshot, _source: str, _audience: None) -> Delta:
    return Delta("games_changed", GamesChanged(state.items))
