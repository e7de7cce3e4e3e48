"""Wire: the code takes the two walks that ARCHITECTURE.md tells: through the files that it names, in that order, and
about as long as it says."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from trio.testing import wait_all_tasks_blocked

from compiled.finding import standing
from routes.domains import DOMAINS
from tests.live.play import subscribe
from tests.support.walk import ROOT, Length, Tracer, Walk, length_of, traced
from tests.support.world import World, open_world

pytestmark = [
    pytest.mark.one_node(because="the walks are those of one node"),
    pytest.mark.skipif(bool(standing().modules), reason="nobody is told of calls within compiled modules"),
]

BEFORE = 2
"""Walks that are taken before those that are compared, since much is made once."""

COMPARED = 6

TEXT = (ROOT / "ARCHITECTURE.md").read_text()

Steps = list[set[str]]
"""Ends of the names of files: the files of one step come in any order, and the steps one after the other."""


def told(name: str) -> tuple[Length, Steps]:
    """What ARCHITECTURE.md tells of a walk: how long it is, and its steps."""
    about = TEXT.partition("## Two walks")[2].partition("\n## ")[0]
    row = re.search(rf"^\| {name} \| (\d+) \| (\d+) \| (\d+) \|$", about, re.MULTILINE)
    assert row is not None, name
    steps: Steps = []
    table = about.partition(f"**{name.capitalize()}**")[2].partition("\n\n**")[0]
    for line in table.splitlines():
        where = re.sub(r"\([^)]*\)", "", line.split("|")[1]) if line.startswith("| `") else ""
        steps += [names for step in where.split("→") if (names := set(re.findall(r"`([\w/]+\.py)`", step)))]
    files, functions, calls = map(int, row.groups())
    return Length(files, functions, calls), steps


def first_not_passed(walk: Walk, steps: Steps) -> set[str]:
    """The files of the first step that a walk does not take in its turn; none when it takes all of them."""
    files = iter(walk.files)
    for step in steps:
        left = set(step)
        while left:
            file = next(files, None)
            if file is None:
                return left
            left = {name for name in left if not f"/{file}".endswith(f"/{name}")}
    return set()


async def check(name: str, tracer: Tracer, take: Callable[[], Awaitable[object]]) -> None:
    """Take a walk some times, and compare it with what is told."""
    walks = []
    for _ in range(BEFORE + COMPARED):
        with tracer.walk() as walk:
            await take()
            await wait_all_tasks_blocked()
        walks.append(walk)
    del walks[:BEFORE]
    length, steps = told(name)
    assert len(steps) > 5
    assert [first_not_passed(walk, steps) for walk in walks] == [set()] * COMPARED
    # A tenth may come or go before the table has to be changed.
    taken = length_of(walks)
    assert tuple(taken) == pytest.approx(tuple(length), rel=0.1), (
        f"ARCHITECTURE.md says {length}, it is {taken}"
    )


@pytest.fixture
def tracer() -> Iterator[Tracer]:
    with traced() as tracer:
        yield tracer


@pytest.fixture
async def world(tracer: Tracer, database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service whose threads are traced, and without jobs, which nobody could tell apart in the database's thread."""
    idle = tuple(replace(domain, jobs=lambda _service: ()) for domain in DOMAINS)
    async with open_world(database_url, tmp_path, domains=idle) as world:
        yield world


async def test_a_message(tracer: Tracer, world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ben.live("/v1/social/live?channels=") as socket:
        await subscribe(socket, room, mode="delta")
        await socket.receive_until(type="snapshot", channel=room.channel)

        async def post() -> None:
            await ann.say(room)
            await socket.receive_until(type="event", channel=room.channel)

        await check("a message", tracer, post)


async def test_a_friend_request(tracer: Tracer, world: World) -> None:
    ann, *others = await world.players("Ann", *(f"Other{number}" for number in range(BEFORE + COMPARED)))
    senders = iter(others)

    async def send() -> None:
        await next(senders).do("POST", "/v1/social/friends/requests", {"targetId": ann.id}, status=201)

    await check("a friend request", tracer, send)
