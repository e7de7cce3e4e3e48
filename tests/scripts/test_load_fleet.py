"""The load test's agents, on a real server: what they count is what happened."""

import json
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Verdict
from scripts.load.fleet import agents_of
from scripts.load.plan import BadPlan, Plan, check, user_id, user_name
from scripts.load.stage import prepare
from scripts.load.traffic import Traffic
from scripts.load.waiting import wait_until
from scripts.load.workloads.agents import Agents
from scripts.load.workloads.commands import Commands
from tests.support.server import address_of
from tests.support.waiting import patience
from tests.support.world import World, open_world


def a_plan(world: World | None = None, **fields) -> Plan:
    address = ("127.0.0.1", 1) if world is None else address_of(world.url)
    return Plan(host="127.0.0.1", **{"address": address, "users": 6, "conversations": 2, **fields})


@pytest.fixture
async def unlimited(database_url: str, tmp_path: Path) -> AsyncIterator[World]:
    """A service without limits of rate."""
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        yield world


async def _opened(world: World, plan: Plan, nursery: trio.Nursery, sort: type[Traffic]) -> Traffic:
    tokens = {user: world.token(user_id(plan, user), user_name(plan, user)) for user in range(2)}
    agents = await prepare(plan, tokens, lambda *_: None)
    loop = EventLoop()
    nursery.start_soon(loop.run)
    traffic = sort(loop, Open(plan, 0, tokens, agents))  # type: ignore[call-arg]
    assert await traffic.open() == plan.users
    return traffic


async def _ran(traffic: Traffic, nursery: trio.Nursery, least: int) -> tuple[int, int, Verdict]:
    """What was acknowledged and delivered until there was enough of it, and the verdict."""
    nursery.start_soon(traffic.drive)
    acknowledged = delivered = 0
    with patience():
        while min(acknowledged, delivered) < least:
            await trio.sleep(0.01)
            tally = traffic.mark()
            assert not tally.errors
            acknowledged += tally.acknowledged
            delivered += tally.delivered
        await traffic.stop()
        tally = traffic.mark()
        verdict = await traffic.settle([], [])
    return acknowledged + tally.acknowledged, delivered + tally.delivered, verdict


@pytest.mark.slow
@pytest.mark.parametrize("pace", [{"window": 4}, {"rate": 200.0}], ids=["closed", "open"])
async def test_commands_are_counted_once(unlimited: World, pace: dict[str, float]):
    plan = a_plan(unlimited, traffic="commands", **pace)
    async with trio.open_nursery() as nursery:
        traffic = await _opened(unlimited, plan, nursery, Commands)
        acknowledged, delivered, verdict = await _ran(traffic, nursery, 20)
        nursery.cancel_scope.cancel()
    assert acknowledged == delivered == verdict.expected
    assert (verdict.exact, verdict.subscriptions) == (True, 6)
    count = "SELECT count(*) FROM connect_commands WHERE status = 'success'"
    assert await unlimited.service.database.read(lambda conn: conn.fetchval(count)) == acknowledged


@pytest.mark.slow
async def test_sums_of_networks_are_what_their_agents_say(unlimited: World):
    plan = a_plan(unlimited, traffic="agents", window=2)
    async with trio.open_nursery() as nursery:
        traffic = await _opened(unlimited, plan, nursery, Agents)
        assert isinstance(traffic, Agents)
        statuses, looks, verdict = await _ran(traffic, nursery, 3)
        assert (verdict.exact, verdict.expected) == (True, looks + 2)
        assert statuses >= plan.users
        network = next(iter(traffic._networks.values()))
        network.players[next(iter(network.players))] += 1
        verdict = await traffic.settle([], [])
        assert (verdict.exact, verdict.missing, len(verdict.examples)) == (False, 1, 1)
        nursery.cancel_scope.cancel()


class LosingServer:
    """Takes commands or statuses, and acknowledgements; the answer to the first is lost with its connection.

    Attributes:
        given: bodies of the commands or statuses.
        acknowledged: how many were.
        looks: how often something was read.
    """

    def __init__(self) -> None:
        self.given: list[bytes] = []
        self.acknowledged = self.looks = 0

    async def serve(self, stream: trio.SocketStream) -> None:
        buffer = b""
        async for data in stream:
            head, _, body = (buffer + data).partition(b"\r\n\r\n")
            self.looks += head.startswith(b"GET ")
            length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or -1)
            buffer = buffer + data if len(body) != length else b""
            if buffer:
                continue
            if b"/ack HTTP" in head:
                self.acknowledged += 1
                answer, status = b"{}", b"200 OK"
            else:
                self.given.append(body)
                if len(self.given) == 1:
                    return
                answer, status = b'{"command":{"id":"c%d"}}' % len(self.given), b"201 Created"
            await stream.send_all(
                b"HTTP/1.1 %b\r\ncontent-length: %d\r\n\r\n%b" % (status, len(answer), answer)
            )


async def test_a_command_whose_answer_was_lost_stands_for_none_that_is_missing():
    server, loop = LosingServer(), EventLoop()
    async with trio.open_nursery() as nursery:
        serving = partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1")
        (listener,) = await nursery.start(serving)
        plan = a_plan(traffic="commands", window=3, address=listener.socket.getsockname())
        traffic = Commands(loop, Open(plan, 0, {0: "t", 1: "t"}, ["s secret n"] * 6))
        nursery.start_soon(loop.run)
        for _ in range(5):
            await traffic._pool.connect()
        nursery.start_soon(traffic.drive)
        with patience():
            await wait_until(lambda: len(server.given) == 4 and traffic._given == 3, 60)
            traffic._pace.stop()
            # The one whose answer was lost is delivered all the same; the fourth never is.
            for number, body in enumerate(server.given[:3], 1):
                payload = json.loads(body)["payload"]
                command = {"id": f"c{number}", "status": "delivered", "payload": payload}
                traffic.heard(0, json.dumps({"type": "command", "command": command}).encode())
            await wait_until(lambda: traffic.mark().in_flight == 1 and server.acknowledged == 3, 60)
        verdict = await traffic.settle([], [])
        assert (verdict.expected, verdict.missing, verdict.exact) == (3, 1, False)
        nursery.cancel_scope.cancel()


async def test_a_network_is_not_judged_by_a_status_whose_answer_was_lost():
    server, loop = LosingServer(), EventLoop()
    async with trio.open_nursery() as nursery:
        (listener,) = await nursery.start(partial(trio.serve_tcp, server.serve, 0, host="127.0.0.1"))
        address = listener.socket.getsockname()
        plan = a_plan(traffic="agents", users=2, conversations=1, window=1, address=address)
        traffic = Agents(loop, Open(plan, 0, {0: "t"}, ["s0 secret n", "s1 secret n"]))
        nursery.start_soon(loop.run)
        await traffic._pool.connect()
        nursery.start_soon(traffic.drive)
        with patience():
            await wait_until(lambda: len(server.given) == 1 and traffic._pool.waiting == 1, 60)
            verdict = await traffic.settle([], [])
        assert (verdict.expected, verdict.missing, server.looks) == (0, 0, 0)
        nursery.cancel_scope.cancel()


def test_networks_are_dealt_out_whole():
    plan = a_plan(traffic="agents", users=7, conversations=4, processes=2)
    lines = [f"server{number} secret network{number % 4}" for number in range(7)]
    first, second = (agents_of(Open(plan, worker, {}, lines)) for worker in range(2))
    assert [agent.number for agent in first] == [0, 2, 4, 6]
    assert {agent.network_id for agent in second} == {"network1", "network3"}


@pytest.mark.parametrize(
    "fields",
    [
        {"conversations": 7},
        {"users": 2001},
        {"processes": 3},
        {"traffic": "agents", "processes": 2},
        {"rate": -1.0},
        {"window": 0},
    ],
)
def test_what_cannot_be_done_is_refused(fields):
    with pytest.raises(BadPlan):
        check(a_plan(**{"traffic": "commands", **fields}))
