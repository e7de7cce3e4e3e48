"""Sockets that are opened and stay open: what an idle user costs.

Each user has friends and the default channels, and shows their conversations, as a client does that is left alone.
"""

from collections import Counter
from collections.abc import Sequence

import trio

from scripts.load.clients.client import DEFAULT_CHANNELS, Client, Track, connect_again, connect_client
from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.exchange import Open, Stopped, Tally, Verdict
from scripts.load.plan import conversations_of
from scripts.load.reopening import Reopening
from scripts.load.seen_messages import Message, SeenMessages

OPENING_AT_ONCE = 64


class Idle:
    """One socket a user."""

    def __init__(self, loop: EventLoop, job: Open) -> None:
        self.run_mark = job.plan.run
        self.seen_messages = SeenMessages(job.plan.run)
        self._loop, self._job, self._plan = loop, job, job.plan
        self.reopening = Reopening(self._open_again)
        self._clients: dict[int, Client] = {}
        self._errors: Counter[str] = Counter()

    def answered(self, conversation: int, due_ns: int, code: str | None) -> None:
        """Nothing is sent, so nothing is answered."""

    def delivered(self, conversation: int, messages: Sequence[Message]) -> None:
        """Nothing is sent, so nothing arrives."""

    def skipped(self, track: Track, events: int) -> None:
        """Nothing is sent, so nothing is skipped."""

    def fault(self, code: str) -> None:
        """Count a socket that was lost."""
        self._errors[code] += 1

    async def open(self) -> int:
        """Open the sockets; returns how many."""
        room = trio.CapacityLimiter(OPENING_AT_ONCE)
        of = conversations_of(self._plan)
        async with trio.open_nursery() as nursery:
            for user in range(self._job.worker, self._plan.clients, self._plan.processes):
                nursery.start_soon(self._open_one, user, of.get(user, []), room)
        return len(self._clients)

    async def _open_one(self, user: int, conversations: list[int], room: trio.CapacityLimiter) -> None:
        async with room:
            token, plan = self._job.tokens[user], self._plan
            client = await connect_client(
                self._loop, plan.address, plan.host, token, user=user, ledger=self, channels=DEFAULT_CHANNELS
            )
            self._clients[user] = client
            self.reopening.watch(user, client)
            for conversation in conversations:
                channel = f"conversation:{self._job.conversations[conversation]}"
                await client.subscribe(channel, conversation, "snapshot")

    async def _open_again(self, user: int) -> Client:
        token, plan = self._job.tokens[user], self._plan
        client = await connect_again(
            self._clients[user], plan.address, plan.host, token, channels=DEFAULT_CHANNELS, mode="snapshot"
        )
        self._clients[user] = client
        return client

    async def drive(self) -> None:
        """Do nothing."""
        await trio.lowlevel.checkpoint()

    def mark(self) -> Tally:
        """How many sockets are still open."""
        errors, self._errors = self._errors, Counter()
        return Tally(
            open_sockets=sum(not client.closed for client in self._clients.values()), errors=dict(errors)
        )

    async def stop(self) -> Stopped:
        """There is nothing to stop."""
        await trio.lowlevel.checkpoint()
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """There is nothing to settle."""
        del least, most
        await trio.lowlevel.checkpoint()
        return Verdict()
