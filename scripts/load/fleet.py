"""Agents of game servers on their streams: what the workloads `commands` and `agents` have in common.

Every run has new agents, in networks of new users: a server's secret is shown once.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

import trio

from scripts.load.clients.event_loop import EventLoop, Wire
from scripts.load.clients.exchange import Open, Stopped, Tally
from scripts.load.clients.http import code_of
from scripts.load.clients.stream_client import Ledger, StreamClient
from scripts.load.meter import Meter
from scripts.load.pace import Pace
from scripts.load.plan import network_of
from scripts.load.pool import Pool
from scripts.load.reopening import Reopening
from scripts.load.waiting import wait_until

CONNECTIONS = 64
OPENING_AT_ONCE = 64
SETTLE_SECONDS = 10.0


class Agent(NamedTuple):
    """One game server.

    Args:
        number: its number in the plan.
        owner: the number of the user who owns its network.
        server_id, secret: its credentials.
        network_id: the id of its network.
    """

    number: int
    owner: int
    server_id: str
    secret: str
    network_id: str

    @property
    def path(self) -> str:
        """The path of the game server's resource."""
        return f"/v1/connect/servers/{self.server_id}"


class Fleet(ABC):
    """The agents of one worker on their streams, and requests about them at a pace; the part of `Traffic` that both
    workloads share.
    """

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self._loop, self._job, self._plan = loop, job, job.plan
        self._agents = agents_of(job)
        self._pool = Pool(loop, job.plan.address)
        self._pace = Pace(job.plan)
        self.reopening = Reopening(self._open_again)
        self._sockets: dict[int, StreamClient] = {}  # {place among the agents: its stream}
        self._came_back: set[int] = set()  # places whose stream was lost, and is open again
        self._in_flight = 0
        self._meter = Meter()

    async def open(self) -> int:
        """Open all streams; returns how many."""
        for socket in await open_streams(self._loop, self._job, self._agents, self):
            self._sockets[socket.user] = socket
            self.reopening.watch(socket.user, socket)
        for number in range(CONNECTIONS):
            self.reopening.watch(-1 - number, await self._pool.connect())
        return len(self._sockets)

    async def _open_again(self, place: int) -> Wire:
        """Open the stream of the agent with this place, or, for a place below 0, a connection of the pool."""
        if place < 0:
            return await self._pool.connect()
        self._came_back.add(place)
        socket = await open_stream(self._loop, self._job, self._agents[place], place, self)
        self._sockets[place] = socket
        return socket

    @abstractmethod
    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived at an agent; `user` is its place among the agents."""

    def lost(self, why: str) -> None:
        """Note that a stream has ended."""
        self._meter.errors[why] += 1

    def mark(self) -> Tally:
        """The counts since the last mark."""
        return self._meter.take(
            in_flight=self._in_flight,
            open_sockets=sum(not socket.closed for socket in self._sockets.values()),
            unsent=self._pace.take_unsent(),
        )

    async def stop(self) -> Stopped:
        """Begin no more requests, and wait for the answers."""
        self._pace.stop()
        await wait_until(lambda: not self._in_flight, SETTLE_SECONDS)
        return Stopped(acknowledged=[], unknown=[])

    def _note(self, status: int, body: bytes) -> None:
        """Count a request that was refused, or has no answer (status 0)."""
        self._meter.errors[code_of(body) if status else "CONNECTION_LOST"] += 1


def agents_of(job: Open) -> list[Agent]:
    """The agents of one worker: all of some networks."""
    found = []
    for number, line in enumerate(job.conversations):
        owner = network_of(job.plan, number)
        if owner % job.plan.processes == job.worker:
            found.append(Agent(number, owner, *line.split(" ")))
    return found


async def open_streams(loop: EventLoop, job: Open, agents: list[Agent], ledger: Ledger) -> list[StreamClient]:
    """Open the streams of all agents of a worker.

    Raises:
        UpgradeRefused, OSError: the server does not let an agent in.
    """
    room = trio.CapacityLimiter(OPENING_AT_ONCE)
    sockets: list[StreamClient] = []

    async def open_one(place: int, agent: Agent) -> None:
        async with room:
            sockets.append(await open_stream(loop, job, agent, place, ledger))

    async with trio.open_nursery() as nursery:
        for place, agent in enumerate(agents):
            nursery.start_soon(open_one, place, agent)
    return sockets


async def open_stream(loop: EventLoop, job: Open, agent: Agent, place: int, ledger: Ledger) -> StreamClient:
    """Open the stream of an agent, by its place among those of the worker.

    Raises:
        UpgradeRefused, OSError: the server does not let the agent in.
    """
    return await StreamClient.open(
        loop,
        job.plan.address,
        job.plan.host,
        f"{agent.path}/stream",
        agent.secret,
        server_id=agent.server_id,
        user=place,
        ledger=ledger,
    )
