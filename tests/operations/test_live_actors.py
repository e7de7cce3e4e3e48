"""When all actors are looked at for the channel `actors`."""

from actors.operations.actors import INTERVAL_MS, LiveActors
from persistence.bridge.database import Database
from tests.support.actors import open_actors


async def test_who_comes_while_others_watch_shares_their_survey(database: Database) -> None:
    now_ms = 1_000_000
    live = LiveActors()
    async with open_actors(database) as system:
        live.follow(system, lambda: now_ms)

        async def surveyed_at_ms() -> int:
            await live.prepare()
            return live.newest.at_ms

        assert await surveyed_at_ms() == now_ms
        live.watched = True
        for later_ms, is_new in ((INTERVAL_MS - 1, False), (1, True), (1, False)):
            before_ms, now_ms = live.newest.at_ms, now_ms + later_ms
            assert await surveyed_at_ms() == (now_ms if is_new else before_ms)
        live.watched = False
        now_ms += 1
        assert await surveyed_at_ms() == now_ms
