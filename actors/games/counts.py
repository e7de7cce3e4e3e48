"""How many play each game: each server counts once, for the game that its publication names (contract §10).

The sums follow each report in constant time, as those of networks do; they are memory alone, since they can be made
anew from statuses and publications.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from actors.publications.statuses import Statuses
from persistence.games.games import GameRow, Listed
from persistence.publications.rows import StatusRow


@dataclass(slots=True)
class Count:
    """Who plays a game now.

    Args:
        players: how many players its servers have together.
        servers: how many servers of it are online and have said so recently.
        at_ms: the time of the newest status that has counted, epoch milliseconds; None before the first.
    """

    players: int = 0
    servers: int = 0
    at_ms: int | None = None


_NONE = Count()


class GameCounts:
    """The players and servers of each game.

    A server counts for the category of its own publication, if that is listed and names one, else for that of its
    network's. Categories that are no games count for nothing.

    Args:
        statuses: the statuses of game servers, which this follows.
        now_ms: returns epoch milliseconds.
        changed: called when a number or the catalog has changed; must not wait.
    """

    def __init__(
        self, statuses: Statuses, now_ms: Callable[[], int], changed: Callable[[], None] = lambda: None
    ) -> None:
        self._statuses = statuses
        self._now_ms = now_ms
        self.changed = changed
        self._catalog: Mapping[str, GameRow] = {}
        self._categories: dict[str, str] = {}  # {target of a listed publication: its category}
        self._counted: dict[str, tuple[str, int]] = {}  # {server: (its game, its players)}
        self._counts: dict[str, Count] = {}
        statuses.follow(self._count)

    @property
    def catalog(self) -> Iterable[GameRow]:
        """The games, ordered by name."""
        return self._catalog.values()

    def of(self, game_id: str) -> Count:
        """Who plays a game now."""
        return self._counts.get(game_id, _NONE)

    def take_catalog(self, games: Iterable[GameRow]) -> None:
        """Take in the whole catalog as it is now."""
        catalog = {game.game_id: game for game in games}
        if catalog == self._catalog:
            return
        strangers = catalog.keys() ^ self._catalog.keys()
        self._catalog = catalog
        for target_id in [id for id, category in self._categories.items() if category in strangers]:
            self._count_target(target_id)
        self.changed()

    def take(self, listed: Listed) -> None:
        """Take in the category of a target's publication, or that the target has no listed publication."""
        before = self._categories.get(listed.target_id)
        after = listed.category or None
        if before == after:
            return
        if after is None:
            del self._categories[listed.target_id]
        else:
            self._categories[listed.target_id] = after
        self._count_target(listed.target_id)

    def targets(self) -> set[str]:
        """The targets whose categories are known."""
        return set(self._categories)

    def _count_target(self, target_id: str) -> None:
        self._count(target_id)
        for server_id in self._statuses.servers_in(target_id):
            self._count(server_id)

    def _count(self, server_id: str) -> None:
        report = self._statuses.fresh_report(server_id, self._now_ms())
        after = self._place(report)
        before = self._counted.get(server_id)
        if report is not None and after is not None:
            count = self._counts.setdefault(after[0], Count())
            count.at_ms = max(count.at_ms or 0, report.at_ms)
        if before == after:
            return
        if before is not None:
            del self._counted[server_id]
            self._add(before[0], -before[1], -1)
        if after is not None:
            self._counted[server_id] = after
            self._add(after[0], after[1], 1)
        self.changed()

    def _place(self, report: StatusRow | None) -> tuple[str, int] | None:
        if report is None or not report.online:
            return None
        category = self._categories.get(report.server_id) or self._categories.get(report.network_id or "")
        return None if category is None or category not in self._catalog else (category, report.players)

    def _add(self, game_id: str, players: int, servers: int) -> None:
        count = self._counts[game_id]
        count.players += players
        count.servers += servers
