"""One kind of request, again and again, over kept-alive connections with one request in flight each."""

import time
from collections import Counter

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop, connect
from scripts.load.clients.exchange import Open, Stopped, Tally, Verdict
from scripts.load.clients.http import Http, request
from scripts.load.histogram import Histogram
from scripts.load.plan import memberships

RETRY_SECONDS = 0.1


class _Problem(msgspec.Struct):
    code: str = "?"


class Rest:
    """The connections of one worker. All of them speak for members of the first conversation."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self._loop, self._job, self._plan = loop, job, job.plan
        self._wires: list[tuple[Http, bytes]] = []  # (connection, the request it repeats)
        self._sending = False
        self._idle: list[tuple[Http, bytes]] = []  # those whose request was refused, and is tried again later
        self.reopening = None
        self._latency = Histogram()
        self._answered_all = trio.Event()
        self._errors: Counter[str] = Counter()
        self._answered = self._bytes = self._in_flight = 0

    async def open(self) -> int:
        """Connect; returns how many connections there are."""
        members = [u for u in memberships(self._plan)[0] if u in self._job.tokens]
        for number in range(self._job.worker, self._plan.connections, self._plan.processes):
            wire = Http(self._loop, await connect(self._plan.address))
            self._wires.append((wire, self._request(members[number % len(members)])))
        return len(self._wires)

    def _request(self, user: int) -> bytes:
        messages = f"/v1/social/chat/conversations/{self._job.conversations[0]}/messages"
        text = ("abcdefghi " * 400)[: self._plan.text_bytes]
        method, target, body = {
            "post": ("POST", messages, {"content": text}),
            "list": ("GET", f"{messages}?limit=50", None),
            "self": ("GET", "/v1/profile/self", None),
            "health": ("GET", "/health", None),
        }[self._plan.rest]
        return request(method, target, host=self._plan.host, token=self._job.tokens[user], body=body)

    async def drive(self) -> None:
        """Send until stopped."""
        self._sending = True
        for wire, what in self._wires:
            self._send(wire, what)
        while self._sending:
            await trio.sleep(RETRY_SECONDS)
            again, self._idle = self._idle, []
            for wire, what in again:
                self._send(wire, what)

    def _send(self, wire: Http, what: bytes) -> None:
        if wire.closed:
            return
        began_ns = time.monotonic_ns()
        self._in_flight += 1

        def answered(status: int, body: bytes) -> None:
            self._in_flight -= 1
            if not self._sending and not self._in_flight:
                self._answered_all.set()
            if 200 <= status < 300:
                self._latency.add(time.monotonic_ns() - began_ns)
                self._answered += 1
                self._bytes += len(body)
                if self._sending:
                    self._send(wire, what)
            elif status:
                self._errors[msgspec.json.decode(body, type=_Problem).code] += 1
                self._idle.append((wire, what))
            else:
                self._errors["CONNECTION_LOST"] += 1

        wire.send_request(what, answered)

    def mark(self) -> Tally:
        """The counts since the last mark."""
        tally = Tally(
            acknowledged=self._answered,
            received_bytes=self._bytes,
            in_flight=self._in_flight,
            open_sockets=sum(not wire.closed for wire, _ in self._wires),
            errors=dict(self._errors),
            acknowledgement=self._latency.take(),
        )
        self._answered = self._bytes = 0
        self._errors = Counter()
        return tally

    async def stop(self) -> Stopped:
        """Send no more."""
        self._sending = False
        if not self._in_flight:
            self._answered_all.set()
        with trio.move_on_after(10):
            await self._answered_all.wait()
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """There is nothing to settle."""
        del least, most
        return Verdict()
