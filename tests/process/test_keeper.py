"""`partyline serve --processes 2`: two nodes on one port, below one keeper."""

import os
import re
import signal
from contextlib import AsyncExitStack

import httpx2
import pytest

from routes.edge.identity.keys import open_keys
from tests.support.keeper import Keeper
from tests.support.process import children_of, living, reachable_directory, started
from tests.support.speaker import Speaker
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.websocket import connect

pytestmark = pytest.mark.drill


async def test_the_life_of_a_keeper() -> None:
    """One story, because a start of everything takes seconds."""
    with reachable_directory() as folder:
        keeper = Keeper(folder, settings={"processes": "2"})
        async with started(keeper), httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            await keeper.shared()
            speaker = Speaker(http, open_keys(keeper.data_dir))
            await speaker.found(keeper.url)
            await _two_nodes_answer_on_one_port(keeper, speaker)
            await _a_killed_node_comes_back(keeper, speaker)
            await _a_stop_leaves_nothing(keeper)
            await _one_process_goes_on_and_several_after_it(keeper, speaker)
            await _a_killed_keeper_leaves_nothing(keeper)


async def _two_nodes_answer_on_one_port(keeper: Keeper, speaker: Speaker) -> None:
    urls = [keeper.node(number)[1] for number in (1, 2)]
    async with AsyncExitStack() as stack:
        watchers = [await stack.enter_async_context(speaker.watching(url)) for url in urls]
        for url in (*urls, keeper.url):
            assert set(await speaker.say(url, "hello")) == {201}
        for watcher in watchers:
            await watcher.hear(speaker.said)
        # After so many connections it is one in 2 ** 39 that a node has none.
        for _ in range(40):
            await stack.enter_async_context(
                connect(f"{keeper.url}/v1/social/live?channels=", token=speaker.token)
            )
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            pages = [(await http.get(f"{url}/metrics")).text for url in urls]
    open_here = [int(re.findall(r"^partyline_sockets (\d+)", page, re.MULTILINE)[0]) for page in pages]
    assert sum(open_here) == 42
    assert min(open_here) > 1
    late = [re.findall(r"^partyline_reading_late_seconds (\S+)", page, re.MULTILINE)[0] for page in pages]
    assert all(float(seconds) > 0 for seconds in late)
    assert keeper.log.count("Open this once") == keeper.log.count("Partyline listens on") == 1


async def _a_killed_node_comes_back(keeper: Keeper, speaker: Speaker) -> None:
    pid, _ = keeper.node(2)
    os.kill(pid, signal.SIGKILL)

    async def is_whole() -> bool:
        return set(await speaker.say(keeper.node(1)[1], "meanwhile")) == {201}

    await wait_until(is_whole)
    await keeper.shared()
    again, url = keeper.node(2)
    assert again != pid
    assert set(await speaker.say(url, "after")) == {201}
    assert await speaker.read(keeper.url) == speaker.said


async def _a_stop_leaves_nothing(keeper: Keeper) -> None:
    assert keeper.process is not None
    below = children_of(keeper.process.pid)
    assert len(below) == 4  # PostgreSQL, NATS, two nodes
    assert await keeper.stop() == 0
    assert not living(below)


async def _one_process_goes_on_and_several_after_it(keeper: Keeper, speaker: Speaker) -> None:
    keeper.settings = {}
    await keeper.start()
    assert await speaker.read(keeper.url) == speaker.said
    assert set(await speaker.say(keeper.url, "alone")) == {201}
    await keeper.kill()

    keeper.settings = {"processes": "2"}
    await keeper.start()
    assert await speaker.read(keeper.node(1)[1]) == speaker.said


async def _a_killed_keeper_leaves_nothing(keeper: Keeper) -> None:
    assert keeper.process is not None
    below = children_of(keeper.process.pid)
    await keeper.kill()

    async def is_clear() -> bool:
        return not living(below)

    await wait_until(is_clear)
