"""The registry of live sockets: heartbeats, ends of tokens, the cap of a user, and the drain."""

import json
from random import Random

import trio
import trio.testing

from routes.edge.websocket.close_codes import CloseCode
from routes.edge.websocket.registry import Sockets
from tests.edge.apps import Application, FixedClock
from tests.edge.held import Held
from tests.support.server import running
from tests.support.websocket import connect


async def test_a_silent_client_is_pinged_and_then_closed(clock: FixedClock) -> None:
    registry = Sockets(clock, Random(1), heartbeat_seconds=0.0)
    held = Held()
    app = Application(handler=held, sockets=registry)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?dead") as dead,
        connect(base_url + "/live?lively") as lively,
    ):
        await held.socket()
        dead.answers_pings = False
        await registry.sweep()  # sees that both were heard: they have just come
        await registry.sweep()  # pings both
        await lively.send_text("I am here")
        while held.said != [b"I am here"]:
            await trio.testing.wait_all_tasks_blocked()
        await registry.sweep()  # the lively one was heard; the dead one has had its time
        assert (await dead.wait_closed()).code == 4408
        assert dead.pings == 1
        assert [socket.user_id for socket in registry] == ["lively"]


async def test_a_token_that_ends(sockets: Sockets, clock: FixedClock) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with running(app) as base_url, connect(base_url + "/live?u") as client:
        socket = await held.socket()
        socket.expires_at_ms = clock.now_ms() + 10
        await sockets.sweep()
        assert not socket.closed
        clock.at_ms += 10
        await sockets.sweep()
        closed = await client.wait_closed()
        assert (closed.code, closed.reason) == (4401, "TOKEN_EXPIRED")


async def test_the_eleventh_socket_replaces_the_first(clock: FixedClock) -> None:
    opened: list[str] = []
    closed: list[str] = []
    registry = Sockets(clock, Random(1), max_per_user=2)
    registry.follow(
        lambda socket: opened.append(socket.session_id.lstrip("0")),
        lambda socket: closed.append(socket.session_id.lstrip("0")),
    )
    app = Application(handler=Held(), sockets=registry)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?u") as first,
        connect(base_url + "/live?u") as second,
        connect(base_url + "/live?other"),
        connect(base_url + "/live?u") as third,
    ):
        assert (await first.wait_closed()).code == 4429
        assert [socket.session_id.lstrip("0") for socket in registry.of_user("u")] == ["2", "4"]
        registry.close_user("u", CloseCode.FORBIDDEN, "FORBIDDEN")
        assert (await second.wait_closed()).code == 4403
        assert (await third.wait_closed()).code == 4403
        assert len(registry) == 1
    assert opened == [*"1234"]
    assert sorted(closed) == opened


async def test_draining_tells_clients_when_to_come_back(sockets: Sockets) -> None:
    held = Held()
    app = Application(handler=held, sockets=sockets)
    async with (
        running(app) as base_url,
        connect(base_url + "/live?many") as many,
        connect(base_url + "/live?single") as single,
    ):
        while len(sockets) < 2:
            await trio.testing.wait_all_tasks_blocked()
        for socket in sockets:
            socket.multiplexed = socket.user_id == "many"
        await sockets.drain(grace_seconds=0)
        frame = json.loads(await many.receive_text())
        assert (frame["type"], frame["reason"]) == ("reconnect", "DRAINING")
        assert 0 <= frame["afterMs"] < 10_000
        assert (await many.wait_closed()).code == 4503
        assert (await single.wait_closed()).code == 4503
        async with connect(base_url + "/live?late") as late:
            assert (await late.wait_closed()).code == 4503
