"""Nothing grows for ever: after each life in every domain all is as it was, but for what is said to be kept."""

import re
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from functools import partial
from pathlib import Path

import httpx2
import pytest

from routes.domains import DOMAINS
from routes.edge.declare.mounts import Mount, RouteTable
from scripts.upstreams.curseforge import CurseForgeSite
from scripts.upstreams.modrinth import ModrinthSite
from tests.census.cast import Life
from tests.census.census import Census, told
from tests.census.kept import AMONG_NODES, AS_ROWS, NOW_AND_THEN, PLACES, ROWS
from tests.census.lives import LIVES
from tests.census.living import Lives
from tests.census.mishaps import MISHAPS
from tests.gateways.play import TOKEN
from tests.mods.play import sites
from tests.support.server import Edge
from tests.support.world import World, open_world

WARMED_UP = 2
COUNTED = 3


@pytest.fixture
async def world(served_by: Edge, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service that has every domain, and a catalogue of mods to ask."""
    async with sites(modrinth := ModrinthSite(), CurseForgeSite()):
        settings = {
            "gateway_token": TOKEN,
            "gateway_domain": "play.partyline.test",
            "modrinth_url": modrinth.api_url,
        }
        async with open_world(database_url, tmp_path, edge=served_by, **settings) as world:
            yield world


def test_every_domain_has_a_life() -> None:
    assert LIVES.keys() == {domain.name for domain in DOMAINS}


@pytest.mark.slow
async def test_nothing_grows_with_each_life(world: World) -> None:
    asked: set[str] = set()
    world.http.event_hooks["response"].append(partial(_note, asked))
    lives = Lives(world, await world.super_admin())
    before, after = await _counted(lives, LIVES.values())
    _hold(before, after, world)
    excused = {f"held at {place}" for place in (*PLACES, *AS_ROWS)} | {f"rows of {table}" for table in ROWS}
    idle = [what for what in sorted(excused) if after.counts[what] <= before.counts[what]]
    assert not idle, f"no life adds to these any more: {idle}"
    assert lives.seen == {channel.name for domain in DOMAINS for channel in domain.channels}
    assert asked == PATHS.keys()


@pytest.mark.slow
async def test_nothing_grows_with_what_ends_before_it_is_done(world: World) -> None:
    before, after = await _counted(Lives(world, await world.super_admin()), MISHAPS)
    _hold(before, after, world)


async def _counted(lives: Lives, each: Iterable[Life]) -> tuple[Census, Census]:
    """Count what there is when the same has been lived so often that it is usual, and once more after further lives."""
    kept, each = (*PLACES, *NOW_AND_THEN, *AMONG_NODES, *AS_ROWS), tuple(each)
    for _ in range(WARMED_UP):
        await lives.live(each)
    before = await lives.counted(kept)
    for _ in range(COUNTED):
        await lives.live(each)
    return before, await lives.counted(kept)


def _hold(before: Census, after: Census, world: World) -> None:
    """Fail where something has grown that has no excuse, or beyond the bound that it was excused with."""
    nodes = len(world.services)
    most = {f"held at {place}": size * nodes for place, size in (PLACES | NOW_AND_THEN | AMONG_NODES).items()}
    most |= {f"held at {place}": after.counts[f"rows of {table}"] * nodes for place, table in AS_ROWS.items()}
    most |= {f"rows of {table}": sys.maxsize for table in ROWS}
    grown = after.grown(before, COUNTED)
    beyond = {what: by for what, by in grown.items() if after.counts[what] > most.get(what, 0)}
    assert not beyond, told(beyond, after.accounted)


def _paths(mounts: Sequence[Mount]) -> re.Pattern[str] | None:
    """What matches the addresses of a domain; None for one that has none."""
    paths = [
        re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(one.path)) for one in RouteTable.of(mounts).endpoints
    ]
    return re.compile("|".join(paths)) if paths else None


PATHS = {domain.name: pattern for domain in DOMAINS if (pattern := _paths(domain.mounts)) is not None}
"""{name of a domain: what its addresses look like}"""


async def _note(asked: set[str], response: httpx2.Response) -> None:
    """Note which domain has answered."""
    if response.is_success:
        asked.update(name for name, path in PATHS.items() if path.fullmatch(response.request.url.path))
