"""What happens while a viewer's feed is being read: the view shows it all the same, though no feed had it before."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio

from routes.news.parts import NEWS_LIVE
from tests.news.play import POLL, editor, follow, network, write
from tests.support.losing import proxy
from tests.support.proxy import Proxy
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world
from tests.users.play import erase

__all__ = ["proxy"]

LIVE = "/v1/social/live?channels="

HALF_READ = (b"E\0\0\0\t\0", b"FROM news_follows WHERE user_id = $1 ORDER BY place")
"""The answer that is late: the second of two that make a feed, when the articles were read already."""


@asynccontextmanager
async def _reading(
    proxy: Proxy, folder: Path, *, in_network: bool
) -> AsyncIterator[tuple[World, Player, str, Client]]:
    """Have a viewer's feed half read by a service that was just started, so that its memory knows no article yet.

    Yields: the service, the author of the one article, the id of the network whose news it is, the viewer's socket.
    """
    async with open_world(proxy.url, folder) as before:
        ed, ann = await editor(before), await before.player("Ann")
        mine = await network(ed)
        await write(ed, "one", **({"scope": mine} if in_network else {}))
        await follow(ann, mine)
        clock = before.clock
    async with open_world(proxy.url, folder, clock=clock) as world:
        ed, ann = (Player(world, one.id, one.name, one.token) for one in (ed, ann))
        has_read = proxy.hold_at(HALF_READ[0], after=HALF_READ[1])
        async with ann.live(LIVE) as client:
            await client.send_json({"id": "s", "op": "subscribe", "channel": "news"})
            await has_read.wait()
            yield world, ed, mine["id"], client


async def _shown(client: Client) -> list[tuple[str, str | None]]:
    """(title, author's name) of what the next snapshot shows."""
    items = (await client.receive_until(type="snapshot"))["data"]["items"]
    return [(one["title"], one["authorName"]) for one in items]


@pytest.mark.parametrize("change", ["renamed", "erased", "erased, and stays", "network removed"])
async def test_what_changes_while_a_feed_is_read_is_shown(proxy: Proxy, tmp_path: Path, change: str) -> None:
    """News of all stay when their author is erased, and those of a network go with its owner."""
    stays = change in ("renamed", "erased, and stays")
    async with _reading(proxy, tmp_path, in_network=change != "erased, and stays") as (
        world,
        ed,
        mine,
        client,
    ):
        if change == "renamed":
            await Player(world, ed.id, "Eddie", world.token(ed.id, "Eddie")).get("/v1/auth/verify")
        elif change == "network removed":
            await ed.do("DELETE", f"/v1/connect/networks/{mine}", status=204)
        else:
            await erase(world, ed)
        proxy.let_go()
        wanted = [("one", "Eddie" if change == "renamed" else None)] if stays else []
        with trio.fail_after(5):
            while await _shown(client) != wanted:
                pass


async def test_a_feed_that_was_read_and_never_shown_is_not_remembered(world: World) -> None:
    """Feeds are read in the database's thread, in which nothing may change what the views share."""
    ed, ann = await editor(world), await world.player("Ann")
    live = world.service.of(NEWS_LIVE)
    made = await write(ed, "asked", poll={**POLL, "expiresAtMs": world.clock.now_ms() + 120_000})
    world.advance(60_000)
    live.voted(10)
    live._open.clear()
    feed = await world.service.database.read(live.view.load, ann.id)
    world.advance(60_000)
    assert live.voted(10) == []
    assert live.view.adopt is not None
    assert feed is not None
    live.view.adopt(None, feed)
    assert live.voted(10) == [made["id"]]
