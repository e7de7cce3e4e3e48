"""`partyline serve --processes 2`: two nodes on one port, below one keeper."""

import os
import re
import signal
from contextlib import AsyncExitStack

import httpx2
import pytest

from routes.edge.identity.keys import open_keys
from tests.support.load import under_load
from tests.support.process import ServerProcess, children_of, living, reachable_directory, started
from tests.support.speaker import Speaker
from tests.support.waiting import PATIENCE_SECONDS, wait_until
from tests.support.websocket import connect

pytestmark = pytest.mark.slow

STARTED = re.compile(r"node_started +number=(\d) pid=(\d+) port=(\d+)")


class Keeper(ServerProcess):
    """The process, and how its nodes are reached."""

    def node(self, number: int) -> tuple[int, str]:
        """The process of a node, as it was started last, and where it alone answers."""
        found = [(pid, port) for which, pid, port in STARTED.findall(self.log) if int(which) == number]
        pid, port = found[-1]
        return int(pid), f"http://127.0.0.1:{port}"

    async def shared(self) -> None:
        """Wait until each node is up and owns a half."""
        token = await self.token("Root", "--role", "super-admin")
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:

            async def is_shared() -> bool:
                headers = {"authorization": f"Bearer {token}"}
                answer = await http.get(f"{self.url}/v1/admin/nodes", headers=headers)
                nodes = answer.json().get("items", ())
                return [(node["state"], node["shards"]) for node in nodes] == [("up", 520)] * 2

            await wait_until(is_shared)


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
            await _a_roll_fails_no_request(keeper)
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


async def _a_roll_fails_no_request(keeper: Keeper) -> None:
    before = {keeper.node(number)[0] for number in (1, 2)}
    assert keeper.process is not None
    async with under_load(keeper.url, open_keys(keeper.data_dir), speakers=3, sockets=6) as load:
        keeper.process.send_signal(signal.SIGHUP)

        async def is_rolled() -> bool:
            return "roll_done" in keeper.log

        await wait_until(is_rolled)
    assert not before & {keeper.node(number)[0] for number in (1, 2)}
    assert not load.failures
    assert load.requests > 20
    # Each was open on a node that went; whoever came to the one that was renewed later has moved twice.
    assert load.told >= 6
    assert load.closed.count(4503) >= load.told
    for speaker in load.speakers:
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            speaker.use(http)
            found = await speaker.read(keeper.url)
        assert {group: found[group] for group in speaker.said} == {
            group: said[-100:] for group, said in speaker.said.items()
        }


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
