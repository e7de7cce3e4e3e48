"""The load of one round: in each conversation somebody who writes with requests and somebody who writes over a live
socket, and on each node that survives somebody who watches them all.

Who asked the victim goes to another node a second after the fault, as a client does that gets no answer, and repeats
there what it does not know the outcome of. Everybody else stays where they are.
"""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random

import httpx2
import trio

from tests.nodes.faults.people import Conversation, Person
from tests.nodes.faults.sequence import NEVER, Heard, Posted, Read
from tests.support.waiting import PATIENCE_SECONDS, patience
from tests.support.websocket import Client, Closed, connect

ASK_PAUSE_SECONDS = 0.3
SEND_PAUSE_SECONDS = 0.9
"""Longest pauses between two messages of a writer; a socket may send 120 commands a minute."""

RETRY_SECONDS = 0.1
LEAVE_SECONDS = 1.0
READS = 0.3
"""The share of messages after whose acknowledgement the writer reads at once."""

SEEN = 50


class Load:
    """What goes on, and what has come of it.

    Args:
        http: asks.
        conversations: of this round.
        victim: the address of the node to which something will be done.
        survivors: those of the others.
        ann: is in all conversations.
        rng: decides who is where, and when they write.

    Attributes:
        wrong: what must not be, found on the way.
        repeats: how often something was sent again.
        slowest_seconds: the longest wait for an answer of a node that survives.
    """

    def __init__(
        self,
        http: httpx2.AsyncClient,
        conversations: Sequence[Conversation],
        *,
        victim: str,
        survivors: Sequence[str],
        ann: Person,
        rng: Random,
    ) -> None:
        self._http = http
        self._conversations = conversations
        self._victim = victim
        self._survivors = survivors
        self._ann = ann
        self._rng = rng
        self._at_victim: set[trio.CancelScope] = set()
        self._is_over = False
        self._began_ns: float = NEVER
        self._waits: set[str] = set()  # writers at nodes that survive who were not answered since the fault
        self._healed = trio.Event()
        self.wrong: list[str] = []
        self.repeats = 0
        self.slowest_seconds = 0.0

    @property
    def acknowledged(self) -> int:
        """How many messages were."""
        return sum(one.acked_ns < NEVER for talk in self._conversations for one in talk.posted.values())

    def begin_fault(self, nursery: trio.Nursery) -> None:
        """The victim cannot be counted on from now on."""
        self._began_ns = time.monotonic_ns()
        nursery.start_soon(self._leave_victim)

    async def wait_healed(self) -> float:
        """Wait until in every conversation something was sent and acknowledged since the fault, by each writer who
        was at a node that survives; returns how many seconds after it that was."""
        with patience():
            await self._healed.wait()
        return (time.monotonic_ns() - self._began_ns) / 1e9

    async def _leave_victim(self) -> None:
        await trio.sleep(LEAVE_SECONDS)
        for scope in self._at_victim:
            scope.cancel()

    # -- writing ------------------------------------------------------------------------------------

    async def _ask(self, talk: Conversation, home: str) -> None:
        """Write with requests until it is over."""
        who = f"{talk.id} by request"
        survives = home != self._victim
        if survives:
            self._waits.add(who)
        number = 0
        while not self._is_over:
            number += 1
            posted = talk.posted[f"r{number}"] = Posted(f"r{number}", time.monotonic_ns())
            while True:
                if self._began_ns < NEVER and home == self._victim:
                    home = self._rng.choice(self._survivors)
                began_ns = time.monotonic_ns()
                if await self._post(talk, posted, home):
                    break
                self.repeats += 1
                await trio.sleep(RETRY_SECONDS)
            self._note(who if survives else "", began_ns)
            if self._rng.random() < READS:
                await self._read(talk, talk.asking)
            await trio.sleep(self._rng.uniform(0, ASK_PAUSE_SECONDS))

    async def _post(self, talk: Conversation, posted: Posted, home: str) -> bool:
        body = {"content": posted.client_id, "clientMessageId": posted.client_id}
        with trio.CancelScope() as scope:
            if home == self._victim:
                self._at_victim.add(scope)
            try:
                began = trio.current_time()
                answer = await self._http.post(home + talk.messages, json=body, headers=talk.asking.headers)
            except httpx2.TransportError as failure:
                if home != self._victim:
                    self.wrong.append(f"no answer of a node that survives: {failure!r}")
                return False
            finally:
                self._at_victim.discard(scope)
            if home != self._victim:
                self.slowest_seconds = max(self.slowest_seconds, trio.current_time() - began)
            if answer.status_code == 201:
                posted.id, posted.acked_ns = answer.json()["id"], time.monotonic_ns()
            elif answer.status_code != 503:
                self.wrong.append(f"{answer.status_code}: {answer.text}")
            return answer.status_code == 201
        return False

    async def _send(self, talk: Conversation, home: str) -> None:
        """Write over a live socket of a node that survives until it is over."""
        who = f"{talk.id} by socket"
        self._waits.add(who)
        try:
            async with connect(f"{home}/v1/social/live?channels=", token=talk.sending.token) as socket:
                number = 0
                while not self._is_over:
                    number += 1
                    posted = talk.posted[f"s{number}"] = Posted(f"s{number}", time.monotonic_ns())
                    while True:
                        began_ns = time.monotonic_ns()
                        if await self._said(socket, talk, posted):
                            break
                        self.repeats += 1
                        await trio.sleep(5 * RETRY_SECONDS)
                    self._note(who, began_ns)
                    if self._rng.random() < READS:
                        await self._read(talk, talk.sending)
                    await trio.sleep(self._rng.uniform(0.5, 1) * SEND_PAUSE_SECONDS)
        except Closed as closed:
            self.wrong.append(f"a socket of a node that survives was closed with {closed.code}")

    async def _said(self, socket: Client, talk: Conversation, posted: Posted) -> bool:
        data = {"content": posted.client_id, "clientMessageId": posted.client_id}
        began = trio.current_time()
        await socket.send_json({"op": "send", "id": posted.client_id, "channel": talk.channel, "data": data})
        reply = await socket.receive_until(type="reply", id=posted.client_id)
        self.slowest_seconds = max(self.slowest_seconds, trio.current_time() - began)
        if reply["ok"]:
            posted.id, posted.acked_ns = reply["data"]["id"], time.monotonic_ns()
        elif reply["error"]["code"] not in {"DATABASE_UNAVAILABLE", "OVERLOADED"}:
            self.wrong.append(f"a command was refused: {reply['error']}")
        return bool(reply["ok"])

    def _note(self, who: str, began_ns: float) -> None:
        if began_ns >= self._began_ns:
            self._waits.discard(who)
            if not self._waits:
                self._healed.set()

    async def _read(self, talk: Conversation, reader: Person) -> None:
        """Read the newest messages at any node that survives."""
        asked_ns = time.monotonic_ns()
        answer = await self._http.get(
            self._rng.choice(self._survivors) + talk.messages, params={"limit": SEEN}, headers=reader.headers
        )
        if answer.status_code == 200:
            ids = tuple(one["id"] for one in answer.json()["items"])
            talk.reads.append(Read(asked_ns, time.monotonic_ns(), ids))
        elif answer.status_code != 503:
            self.wrong.append(f"{answer.status_code}: {answer.text}")

    # -- watching -----------------------------------------------------------------------------------

    async def _watch(self, home: str, *, task_status: trio.TaskStatus[None]) -> None:
        """Watch all conversations on one socket, for as long as the block lasts."""
        by_channel = {talk.channel: talk.heard.setdefault(home, Heard()) for talk in self._conversations}
        offsets: dict[str, int] = {}
        async with connect(f"{home}/v1/social/live?channels=", token=self._ann.token) as socket:
            for channel in by_channel:
                await socket.send_json(
                    {"op": "subscribe", "id": channel, "channel": channel, "params": {"mode": "delta"}}
                )
                reply = await socket.receive_until(type="reply", id=channel)
                assert reply["ok"], reply
                await socket.receive_until(type="snapshot", channel=channel)
                offsets[channel] = reply["offset"]
            task_status.started()
            while True:
                try:
                    frame = await socket.receive_json()
                except Closed as closed:
                    self.wrong.append(f"a subscriber was closed with {closed.code}")
                    return
                if frame.get("channel") in by_channel:
                    _take(frame, by_channel[frame["channel"]], offsets)
                else:
                    self.wrong.append(f"a subscriber was told {frame}")

    async def wait_heard(self) -> None:
        """Wait until every subscriber has heard of as many messages as are there."""

        def is_late(talk: Conversation) -> bool:
            return any(len(heard.ids) < len(talk.posted) for heard in talk.heard.values())

        with trio.move_on_after(PATIENCE_SECONDS / 4):
            while any(is_late(talk) for talk in self._conversations):  # noqa: ASYNC110 - frames tell nobody else
                await trio.sleep(RETRY_SECONDS)

    # -- all ----------------------------------------------------------------------------------------

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """Everybody watches and writes for the block; what is being written at its end is finished."""
        async with trio.open_nursery() as watching:
            for home in self._survivors:
                await watching.start(self._watch, home)
            async with trio.open_nursery() as writing:
                for number, talk in enumerate(self._conversations):
                    homes = [self._victim, *self._survivors]
                    writing.start_soon(self._ask, talk, homes[number % len(homes)])
                    writing.start_soon(self._send, talk, self._rng.choice(self._survivors))
                yield
                self._is_over = True
            await self.wait_heard()
            watching.cancel_scope.cancel()


def _take(frame: dict[str, object], heard: Heard, offsets: dict[str, int]) -> None:
    """Take in a frame of a conversation."""
    channel, offset = str(frame["channel"]), frame.get("offset")
    if frame["type"] != "event":
        heard.wrong.append(f"was told {str(frame)[:200]}")
    elif isinstance(offset, int):
        if offset != offsets[channel] + 1:
            heard.wrong.append(f"heard {offset} after {offsets[channel]}")
        offsets[channel] = offset
        if frame["event"] == "message_created":
            data = frame["data"]
            assert isinstance(data, dict)
            heard.ids.append(data["id"])
