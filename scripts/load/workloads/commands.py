"""Commands for agents: given over HTTP, delivered on the agent's stream, acknowledged over HTTP."""

import random
import time

import msgspec

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Verdict
from scripts.load.clients.http import request
from scripts.load.fleet import Agent, Fleet


class _Payload(msgspec.Struct):
    number: int = 0
    due: int = 0


class _Command(msgspec.Struct):
    id: str
    status: str
    payload: _Payload


class _Frame(msgspec.Struct):
    type: str
    command: _Command | None = None


class _Id(msgspec.Struct):
    id: str


class _Given(msgspec.Struct):
    command: _Id


_decode = msgspec.json.Decoder(_Frame).decode
_decode_given = msgspec.json.Decoder(_Given).decode
_ACK = {"status": "success"}


class Commands(Fleet):
    """The agents of one worker, and the commands for them; implements `Traffic`.

    A command whose request got no answer may be delivered and acknowledged all the same; it must not make up for
    another one that is missing.
    """

    def __init__(self, loop: EventLoop, job: Open) -> None:
        super().__init__(loop, job)
        self._order = random.Random(job.plan.seed).sample(self._agents, len(self._agents))
        self._given = self._repeated = 0
        self._delivered_ids: set[str] = set()
        self._missing: set[str] = set()  # ids of commands that were given and are not acknowledged
        # ids of commands that were acknowledged before the answer came that they were given
        self._ahead: set[str] = set()
        self._under_way: set[int] = set()  # numbers of commands

    async def drive(self) -> None:
        """Give commands until stopped."""
        await self._pace.drive(self._give)

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived at an agent; a command is acknowledged at once."""
        command = _decode(payload).command
        if command is None or command.status != "delivered":
            return
        self._meter.received_bytes += len(payload)
        if command.id in self._delivered_ids:
            # A new stream delivers commands again that are not acknowledged yet (contract §7).
            self._repeated += user not in self._came_back
            return
        self._delivered_ids.add(command.id)
        self._meter.delivered += 1
        id, number, due_ns = command.id, command.payload.number, command.payload.due
        self._meter.delivery.add(time.monotonic_ns() - due_ns)
        agent = self._agents[user]
        path = f"{agent.path}/commands/{id}/ack"
        asked = self._request(path, agent.secret, _ACK, server_id=agent.server_id)

        def answered(status: int, body: bytes) -> None:
            if status == 200:
                _match(id, self._missing, self._ahead)
                self._meter.acknowledged += 1
                self._meter.acknowledgement.add(time.monotonic_ns() - due_ns)
            else:
                self._note(status, body)
            self._done(number)

        self._pool.send(asked, answered)

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """Wait, and judge whether each command that was given was delivered once and acknowledged."""
        del least, most
        missing = len(self._missing)
        examples = (
            [f"{self._given:,} commands were given, {self._given - missing:,} acknowledged"]
            if missing
            else []
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
        body = {"action": "load", "payload": {"number": number, "due": due_ns}}
        self._under_way.add(number)
        self._in_flight += 1

        def answered(status: int, body: bytes) -> None:
            if status == 201:
                self._given += 1
                _match(_decode_given(body).command.id, self._ahead, self._missing)
                return
            self._note(status, body)
            self._done(number)

        token = self._job.tokens[agent.owner]
        self._pool.send(self._request(f"{agent.path}/commands", token, body), answered)

    def _done(self, number: int) -> None:
        """Note that a command has ended, with success or not; called once for each."""
        if number in self._under_way:
            self._under_way.discard(number)
            self._in_flight -= 1
            self._pace.done(self._give)

    def _request(self, path: str, token: str, body: object, *, server_id: str = "") -> bytes:
        return request("POST", path, host=self._plan.host, token=token, body=body, server_id=server_id)


def _match(id: str, others: set[str], own: set[str]) -> None:
    """Take an id out of `others`; where it is not there yet, put it into `own`, where its counterpart finds it."""
    if id in others:
        others.discard(id)
    else:
        own.add(id)
