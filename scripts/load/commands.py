"""Commands for agents: given over HTTP, delivered on the agent's stream, acknowledged over HTTP."""

import random
import time

import msgspec

from scripts.load.exchange import Open, Stopped, Tally, Verdict
from scripts.load.fleet import Agent, agents_of, open_streams
from scripts.load.http import request
from scripts.load.hub import Hub
from scripts.load.meter import Meter
from scripts.load.onlooker import Onlooker
from scripts.load.pace import Pace
from scripts.load.patience import wait_until
from scripts.load.pool import Pool

CONNECTIONS = 64
SETTLE_SECONDS = 10.0


class _Payload(msgspec.Struct):
    due: int = 0


class _Command(msgspec.Struct):
    id: str
    status: str
    payload: _Payload


class _Frame(msgspec.Struct):
    type: str
    command: _Command | None = None


class _Problem(msgspec.Struct):
    code: str = "?"


_decode = msgspec.json.Decoder(_Frame).decode
_ACK = {"status": "success"}


class Commands:
    """The agents of one worker, and who commands them; implements `Traffic`."""

    def __init__(self, hub: Hub, job: Open) -> None:
        self._hub, self._job, self._plan = hub, job, job.plan
        self._agents = agents_of(job)
        self._order = random.Random(job.plan.seed).sample(self._agents, len(self._agents))
        self._pool = Pool(hub, job.plan.address)
        self._pace = Pace(job.plan)
        self._sockets: list[Onlooker] = []
        self._given = self._finished = self._repeated = self._in_flight = 0
        self._delivered_ids: set[str] = set()
        self._meter = Meter()

    async def open(self) -> int:
        """Open all streams; returns how many."""
        self._sockets = await open_streams(self._hub, self._job, self._agents, self)
        await self._pool.open(CONNECTIONS)
        return len(self._sockets)

    async def drive(self) -> None:
        """Give commands until stopped."""
        await self._pace.drive(self._give)

    def heard(self, user: int, payload: bytes) -> None:
        """A frame has arrived at an agent: a command is acknowledged at once."""
        command = _decode(payload).command
        if command is None or command.status != "delivered":
            return
        self._meter.received_bytes += len(payload)
        if command.id in self._delivered_ids:
            self._repeated += 1
            return
        self._delivered_ids.add(command.id)
        self._meter.delivered += 1
        due_ns = command.payload.due
        self._meter.delivery.add(time.monotonic_ns() - due_ns)
        agent = self._agents[user]
        path = f"{agent.path}/commands/{command.id}/ack"
        asked = self._request(path, agent.secret, _ACK, server_id=agent.server_id)

        def answered(status: int, body: bytes) -> None:
            self._in_flight -= 1
            if status == 200:
                self._finished += 1
                self._meter.acknowledged += 1
                self._meter.acknowledgement.add(time.monotonic_ns() - due_ns)
            else:
                self._note(status, body)
            self._pace.done(self._give)

        self._pool.send(asked, answered)

    def lost(self, why: str) -> None:
        """A stream has ended."""
        self._meter.errors[why] += 1

    def mark(self) -> Tally:
        """What happened since the last mark."""
        return self._meter.take(
            in_flight=self._in_flight,
            open_sockets=sum(not socket.closed for socket in self._sockets),
            unsent=self._pace.take_unsent(),
        )

    async def stop(self) -> Stopped:
        """Give no more, and wait for the last acknowledgements."""
        self._pace.stop()
        await wait_until(lambda: not self._in_flight, SETTLE_SECONDS)
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Each command that was given has been delivered once and acknowledged."""
        del least, most
        missing = self._given - self._finished
        examples = (
            [f"{self._given:,} commands were given, {self._finished:,} acknowledged"] if missing else []
        )
        return Verdict(
            subscriptions=len(self._sockets),
            expected=self._given,
            missing=missing,
            repeated=self._repeated,
            examples=examples,
        )

    def _give(self, number: int, due_ns: int) -> None:
        agent: Agent = self._order[number % len(self._order)]
        body = {"action": "load", "payload": {"due": due_ns}}
        self._in_flight += 1

        def answered(status: int, body: bytes) -> None:
            if status == 201:
                self._given += 1
                return
            self._in_flight -= 1
            self._note(status, body)
            self._pace.done(self._give)

        token = self._job.tokens[agent.owner]
        self._pool.send(self._request(f"{agent.path}/commands", token, body), answered)

    def _request(self, path: str, token: str, body: object, *, server_id: str = "") -> bytes:
        return request("POST", path, host=self._plan.host, token=token, body=body, server_id=server_id)

    def _note(self, status: int, body: bytes) -> None:
        code = msgspec.json.decode(body, type=_Problem).code if status else "CONNECTION_LOST"
        self._meter.errors[code] += 1
