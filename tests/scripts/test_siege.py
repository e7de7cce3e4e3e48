"""The siege's own parts, on a real server: it finds its way in, everything it does is done, and the service goes on."""

import multiprocessing
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from scripts.hostile.__main__ import _strangers
from scripts.hostile.bystanders import Neighbours, Seen, Watch, watching
from scripts.hostile.scene import ACQUAINTANCES, BYSTANDERS, prepare
from scripts.hostile.strangers import BODY_BYTES, HEAD_BYTES, hostile_bodies, hostile_heads, hostile_requests
from scripts.hostile.user import Offender
from scripts.hostile.wire import Line
from tests.support.process import free_port
from tests.support.server import address_of
from tests.support.waiting import wait_until
from tests.support.world import World, open_world

HOST = "127.0.0.1"


@pytest.fixture
async def lean(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    async with open_world(database_url, tmp_path) as world:
        yield world


@pytest.mark.parametrize("what", hostile_bodies())
def test_a_body_is_as_long_as_it_says(what: str):
    assert 0.5 * BODY_BYTES < len(hostile_bodies()[what]) <= BODY_BYTES + 100


def test_a_head_is_read_before_it_is_refused():
    assert all(0.9 * HEAD_BYTES < len(make(HOST)) < HEAD_BYTES for make in hostile_heads().values())


async def test_others_who_fail_are_no_calm():
    class Failing(Watch):
        def look(self) -> Seen:
            return Seen(0.0, 0.0, None, None, 0, failed=1)

    ours, _ = multiprocessing.Pipe()
    assert not await _strangers((HOST, free_port()), HOST, Failing(ours))


async def test_an_interruption_is_for_the_siege_alone():
    neighbours = Neighbours(address=(HOST, free_port()), host=HOST, tokens=(), conversations=())
    with watching(neighbours) as watch:
        (process,) = multiprocessing.active_children()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGINT)
        assert watch.look().answered == 0
        assert process.is_alive()
    assert process.exitcode == 0


@pytest.mark.slow
async def test_every_request_of_a_stranger_is_answered(lean: World):
    address = address_of(lean.url)
    for what, data in hostile_requests(HOST).items():
        with Line(address, HOST) as line:
            status, _ = await line.send(data)
        assert 200 <= status < 500, what


@pytest.mark.slow
async def test_who_rages_is_answered_and_the_others_go_on(lean: World):
    address = address_of(lean.url)
    ids = [f"00000000-0000-4000-8000-{number:012d}" for number in range(1 + 2 * BYSTANDERS + ACQUAINTANCES)]
    scene = await prepare(address, HOST, lambda id, name, _: lean.token(id, name), ids, 0)
    assert scene.server.startswith("/v1/connect/servers/")
    offender = Offender(
        address,
        HOST,
        scene.offender_token,
        conversation=scene.offender_conversation,
        others=scene.acquaintances,
        server=scene.server,
    )
    neighbours = Neighbours(
        address=address, host=HOST, tokens=scene.tokens, conversations=scene.conversations
    )

    async def all_were_answered() -> bool:
        done = {line.split()[0] for line in offender.answers}
        seen = await trio.to_thread.run_sync(watch.look)
        return seen.answered > 0 and done >= {"post", "group", "list", "profile"}

    with watching(neighbours) as watch:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(offender.rage)
            await wait_until(all_were_answered)
            nursery.cancel_scope.cancel()
    assert not [line for line in offender.answers if line.endswith(" 500")]
