"""The part of games: how many play each of them, in memory."""

from actors.games.counts import GameCounts
from actors.games.live import LiveGames
from persistence.games import games
from routes.part import Opening, Part
from routes.publications.parts import STATUSES

PAGE_ROWS = 1_000
"""Most publications that are read at once."""


async def _open(opening: Opening) -> LiveGames:
    live = LiveGames(GameCounts(await opening.of(STATUSES), opening.clock.now_ms))
    database = opening.database
    live.counts.take_catalog(await database.read(games.read_all))
    after = ""
    while True:
        page = await database.read(games.listed_page, after, PAGE_ROWS)
        for listed in page:
            live.counts.take(listed)
        if len(page) < PAGE_ROWS:
            return live
        after = page[-1].target_id


GAMES_LIVE = Part(name="live games", open=_open)
"""How many users play each game now."""
