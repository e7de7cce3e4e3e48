"""Nodes in processes of their own, on one PostgreSQL and one NATS server: what happens when one of them is killed."""

import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trio

from persistence.bridge.database import Database
from persistence.nodes import members
from persistence.nodes.members import State
from routes.edge.identity.keys import open_keys
from tests.support.nats import NatsServer
from tests.support.process import ServerProcess, started
from tests.support.speaker import Speaker
from tests.support.waiting import PATIENCE_SECONDS, patience, wait_until

pytestmark = pytest.mark.drill

HEALED_SECONDS = 10.0


@asynccontextmanager
async def _node(folder: Path, database_url: str, nats: NatsServer, name: str) -> AsyncIterator[ServerProcess]:
    own = folder / name
    own.mkdir()
    settings = {
        "database_url": database_url,
        "shared_dir": str(folder / "shared"),
        "nats_url": nats.url,
        "request_seconds": "5",
    }
    async with started(ServerProcess(own, settings=settings)) as server:
        yield server


async def _spread(database: Database, nodes: int) -> bool:
    view = await database.read(members.read)
    up = [one for one in view.members.values() if one.state is State.UP]
    owned = {lease.node for lease in view.leases.values()}
    return len(up) == nodes and owned == {one.node for one in up}


async def test_what_a_killed_node_owned_is_served_by_the_other(
    database: Database, database_url: str, nats: NatsServer, tmp_path: Path
) -> None:
    async with (
        _node(tmp_path, database_url, nats, "a") as a,
        _node(tmp_path, database_url, nats, "b") as b,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
        AsyncExitStack() as stack,
    ):

        async def both_own() -> bool:
            return await _spread(database, 2)

        await wait_until(both_own)
        lines = (await a.command("nodes")).splitlines()
        assert [line.split()[2] for line in lines] == ["state", "up", "up"]
        speaker = Speaker(http, open_keys(tmp_path / "shared"))
        await speaker.found(a.url)
        watcher = await stack.enter_async_context(speaker.watching(a.url))
        for url in (a.url, b.url):
            assert set(await speaker.say(url, "before")) == {201}

        await b.kill()
        killed_at = trio.current_time()
        while set(await speaker.say(a.url, "meanwhile")) != {201}:
            assert trio.current_time() < killed_at + PATIENCE_SECONDS
        healed = trio.current_time() - killed_at
        assert await speaker.read(a.url) == speaker.said
        await watcher.hear(speaker.said)

        # The killed one comes back, and has a share again.
        await b.start()
        await wait_until(both_own)
        assert set(await speaker.say(b.url, "after")) == {201}
        assert await speaker.read(b.url) == speaker.said

        # One that is asked to stop leaves nothing behind that would have to be waited for.
        assert await b.stop() == 0
        assert set(await speaker.say(a.url, "last")) == {201}
        assert await speaker.read(a.url) == speaker.said
        await watcher.hear(speaker.said)
        assert healed < HEALED_SECONDS


async def test_a_node_that_was_frozen_ends_when_it_wakes_up(
    database: Database, database_url: str, nats: NatsServer, tmp_path: Path
) -> None:
    """Others own its shards by then; nothing that it still answers or writes is taken for true.

    It is the older of the two: the other does not yield to it.
    """
    async with (
        _node(tmp_path, database_url, nats, "a") as a,
        _node(tmp_path, database_url, nats, "b") as b,
        httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http,
    ):

        async def both_own() -> bool:
            return await _spread(database, 2)

        async def one_owns() -> bool:
            return await _spread(database, 1)

        await wait_until(both_own)
        speaker = Speaker(http, open_keys(tmp_path / "shared"))
        await speaker.found(a.url)
        assert set(await speaker.say(a.url, "before")) == {201}
        assert a.process is not None
        a.process.send_signal(signal.SIGSTOP)
        await wait_until(one_owns)
        assert set(await speaker.say(b.url, "meanwhile")) == {201}
        a.process.send_signal(signal.SIGCONT)
        with patience():
            assert await a.process.wait() == 1
        assert "was silent for too long" in a.log.splitlines()[-1]
        assert await speaker.read(b.url) == speaker.said
