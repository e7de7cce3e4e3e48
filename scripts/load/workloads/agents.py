"""Agents on their streams that push how many players they have, while the sums of their networks are checked.

While a network is checked its agents push no statuses, so that its sum is known exactly: it must be what they have
pushed, no more and no less.
"""

import random
import time

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Verdict
from scripts.load.clients.http import RequestFailed, Requests, request
from scripts.load.fleet import SETTLE_SECONDS, Agent, Fleet
from scripts.load.waiting import wait_until

CAPACITY = 100
LOOK_SECONDS = 0.1


class _Publication(msgspec.Struct, rename="camel"):
    player_count: int
    player_capacity: int


class _Answer(msgspec.Struct):
    publication: _Publication


class Network:
    """One network, with what its agents have pushed.

    Args:
        id: the network's id.
        owner: the number of the user who owns it.
    """

    def __init__(self, id: str, owner: int) -> None:
        self.id, self.owner = id, owner
        self.players: dict[int, int] = {}  # {agent: players that it has pushed}
        self.unsure: set[int] = set()  # agents whose last number may be another one, as an answer was lost
        self.in_flight = 0
        self.held = False

    @property
    def path(self) -> str:
        """The path of the network's publication."""
        return f"/v1/connect/publications/network/{self.id}"

    @property
    def sum(self) -> tuple[int, int]:
        """(players, capacity) of the whole network."""
        return sum(self.players.values()), CAPACITY * len(self.players)


class Agents(Fleet):
    """The agents of one worker; implements `Traffic`."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        super().__init__(loop, job)
        self._networks = {agent.owner: Network(agent.network_id, agent.owner) for agent in self._agents}
        self._random = random.Random(job.plan.seed + job.worker)
        self._order = self._random.sample(self._agents, len(self._agents))
        self._looks = Requests(loop, job.plan.address, job.plan.host, 1)
        self._looked = self._wrong = 0
        self._examples: list[str] = []
        self._place = 0

    async def open(self) -> int:
        """Publish the networks and open all streams; returns how many."""
        for network in self._networks.values():
            body = {"address": "play.example.org", "displayName": f"Load {network.owner}", "hidden": False}
            await self._looks.send("PUT", network.path, self._job.tokens[network.owner], body)
        return await super().open()

    async def drive(self) -> None:
        """Push statuses and check sums until stopped."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._look_around)
            await self._pace.drive(self._push)

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived at an agent, which has its settings."""
        del user
        self._meter.received_bytes += len(payload)

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Check every network once more, and judge."""
        del least, most
        for network in self._networks.values():
            await self._look(network)
        return Verdict(
            subscriptions=len(self._sockets),
            expected=self._looked,
            missing=self._wrong,
            examples=self._examples[:5],
        )

    async def _look_around(self) -> None:
        while True:
            for network in self._random.sample(list(self._networks.values()), len(self._networks)):
                await trio.sleep(LOOK_SECONDS)
                if not self._pace.running:
                    return
                await self._hold(network)

    async def _hold(self, network: Network) -> None:
        """Check a network once no status of its agents is in flight."""
        network.held = True
        await wait_until(lambda: not network.in_flight, SETTLE_SECONDS)
        await self._look(network)
        network.held = False

    async def _look(self, network: Network) -> None:
        """Compare a network's sum with what its agents have pushed, where that is known."""
        if network.unsure:
            return
        try:
            data = await self._looks.send("GET", network.path, self._job.tokens[network.owner])
        except (RequestFailed, OSError) as error:
            self._meter.errors[str(error)[:80]] += 1
            return
        shown = msgspec.json.decode(data, type=_Answer).publication
        self._looked += 1
        self._meter.delivered += 1
        if (shown.player_count, shown.player_capacity) != network.sum:
            self._wrong += 1
            self._examples.append(
                f"network {network.owner} shows {shown.player_count:,} of {shown.player_capacity:,} players, "
                f"its agents have said {network.sum[0]:,} of {network.sum[1]:,}"
            )

    def _push(self, _number: int, due_ns: int) -> None:
        agent = self._next()
        network = self._networks[agent.owner]
        players = self._random.randrange(CAPACITY + 1)
        status = {"online": True, "motd": "Load", "playerCount": players, "playerCapacity": CAPACITY}
        self._in_flight += 1
        network.in_flight += 1

        def answered(status: int, body: bytes) -> None:
            self._in_flight -= 1
            network.in_flight -= 1
            if status == 200:
                network.players[agent.number] = players
                network.unsure.discard(agent.number)
                self._meter.acknowledged += 1
                self._meter.acknowledgement.add(time.monotonic_ns() - due_ns)
            else:
                if not status:
                    network.unsure.add(agent.number)
                self._note(status, body)
            self._pace.done(self._push)

        path = f"{agent.path}/publication/status"
        asked = request(
            "PUT", path, host=self._plan.host, token=agent.secret, body=status, server_id=agent.server_id
        )
        self._pool.send(asked, answered)

    def _next(self) -> Agent:
        """The agent whose turn it is; those of a network that is being checked are passed over."""
        while True:
            agent = self._order[self._place % len(self._order)]
            self._place += 1
            if not self._networks[agent.owner].held:
                return agent
