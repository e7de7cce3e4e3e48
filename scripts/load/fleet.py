"""Agents on their streams: what the workloads `commands` and `agents` have in common.

Every run has new agents, in networks of new users: a server's secret is shown once.
"""

from typing import NamedTuple

import trio

from scripts.load.exchange import Open
from scripts.load.hub import Hub
from scripts.load.onlooker import Ledger, Onlooker
from scripts.load.plan import network_of

OPENING_AT_ONCE = 64


class Agent(NamedTuple):
    """One game server.

    Args:
        number: of the plan.
        owner: who has its network, a user's number.
        server_id, secret: what it shows.
        network_id: where it is.
    """

    number: int
    owner: int
    server_id: str
    secret: str
    network_id: str

    @property
    def path(self) -> str:
        """Its address."""
        return f"/v1/connect/servers/{self.server_id}"


def agents_of(job: Open) -> list[Agent]:
    """Those of one worker: all agents of some networks."""
    found = []
    for number, line in enumerate(job.conversations):
        owner = network_of(job.plan, number)
        if owner % job.plan.processes == job.worker:
            found.append(Agent(number, owner, *line.split(" ")))
    return found


async def open_streams(hub: Hub, job: Open, agents: list[Agent], ledger: Ledger) -> list[Onlooker]:
    """The streams of all of them.

    Raises:
        UpgradeRefused, OSError: the server does not let one in.
    """
    room = trio.CapacityLimiter(OPENING_AT_ONCE)
    sockets: list[Onlooker] = []

    async def open_one(place: int, agent: Agent) -> None:
        async with room:
            plan = job.plan
            socket = await Onlooker.open(
                hub,
                plan.address,
                plan.host,
                f"{agent.path}/stream",
                agent.secret,
                server_id=agent.server_id,
                user=place,
                ledger=ledger,
            )
            sockets.append(socket)

    async with trio.open_nursery() as nursery:
        for place, agent in enumerate(agents):
            nursery.start_soon(open_one, place, agent)
    return sockets
