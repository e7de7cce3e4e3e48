"""Every list in pages, walked while its things come and go: what was there all along is shown, and shown once."""

from collections.abc import AsyncIterator
from itertools import count
from pathlib import Path

import pytest

from routes import TABLE
from tests.gateways.play import TOKEN
from tests.service.lists import PLAYERS
from tests.service.lists_of_servers import SERVERS
from tests.service.walked import Walked
from tests.support.server import Edge
from tests.support.world import World, open_world

SCENES = PLAYERS | SERVERS

THINGS = 7
PAGES_MOST = 2 * THINGS


@pytest.fixture
async def world(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service that has every list."""
    settings = {"gateway_token": TOKEN, "gateway_domain": "play.partyline.test"}
    async with open_world(database_url, tmp_path, edge=served_by, **settings) as world:
        yield world


def test_every_list_is_walked():
    takers = {one.path for one in TABLE.endpoints if one.query is not None and "cursor" in one.query.fields}
    assert {path.partition("?")[0].partition(" ")[0] for path in SCENES} == takers


async def _whole(walked: Walked) -> list[str]:
    """The list while nothing changes."""
    met: list[str] = []
    cursor = None
    for _ in range(PAGES_MOST):
        names, cursor = await walked.page(cursor)
        met += names
        if cursor is None:
            return met
    raise AssertionError("the list has no end")


@pytest.mark.parametrize("name", SCENES)
async def test_what_was_there_all_along_is_shown_once(world: World, name: str) -> None:
    """After each page the last thing that it showed goes, so does the first that it did not, and another one comes."""
    walked = await SCENES[name](world)
    if walked.ties:
        world.clock.stop()
    made = [await walked.make(number) for number in range(THINGS)]
    numbers = count(THINGS)
    async with walked.watching():
        whole = [one for one in await _whole(walked) if one in made]
        assert sorted(whole) == sorted(made)
        there, met, cursor = set(made), [], None
        for _ in range(PAGES_MOST):
            names, cursor = await walked.page(cursor)
            met += names
            if cursor is None:
                break
            unmet = [one for one in whole if one in there and one not in met]
            for gone in {names[-1], *unmet[:1]} & there:
                await walked.remove(gone)
                there.discard(gone)
            await walked.make(next(numbers))
    assert cursor is None
    assert len(met) == len(set(met))
    assert there <= set(met)
