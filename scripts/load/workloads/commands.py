"""Commands for agents: given over HTTP, delivered on the agent's stream, acknowledged over HTTP."""

import random
import time

import msgspec

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Verdict
from scripts.load.clients.http import request
from scripts.load.fleet import Agent, Fleet


class _Payload(msgspec.Struct):
    due: int = 0


class _Command(msgspec.Struct):
    id: str
    status: str
    payload: _Payload


class _Frame(msgspec.Struct):
    type: str
    command: _Command | None = None


_decode = msgspec.json.Decoder(_Frame).decode
_ACK = {"status": "success"}


class Commands(Fleet):
    """The agents of one worker, and who commands them; implements `Traffic`."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        super().__init__(loop, job)
        self._order = random.Random(job.plan.seed).sample(self._agents, len(self._agents))
        self._given = self._finished = self._repeated = 0
        self._delivered_ids: set[str] = set()

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
            # What has no acknowledgement yet is delivered again on a new stream (contract §7).
            self._repeated += user not in self._came_back
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
