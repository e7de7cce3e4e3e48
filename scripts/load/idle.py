"""Sockets that are opened and stay open: what an idle user costs."""

from collections import Counter

import trio

from scripts.load.exchange import Open, Stopped, Tally, Verdict
from scripts.load.hub import Hub
from scripts.load.seat import Seat, Track, take_seat

OPENING_AT_ONCE = 64


class Idle:
    """One socket a user, subscribed to nothing."""

    def __init__(self, hub: Hub, job: Open) -> None:
        self.run_mark = job.plan.run
        self._hub, self._job, self._plan = hub, job, job.plan
        self._seats: list[Seat] = []
        self._errors: Counter[str] = Counter()

    def answered(self, conversation: int, due_ns: int, code: str | None) -> None:
        """Nothing is sent, so nothing is answered."""

    def delivered(self, due_ns: int, size: int) -> None:
        """Nothing is subscribed, so nothing arrives."""

    def skipped(self, track: Track, events: int) -> None:
        """Nothing is subscribed, so nothing is skipped."""

    def fault(self, code: str) -> None:
        """A socket was lost."""
        self._errors[code] += 1

    async def open(self) -> int:
        """Open the sockets; returns how many."""
        room = trio.CapacityLimiter(OPENING_AT_ONCE)
        async with trio.open_nursery() as nursery:
            for user in range(self._job.worker, self._plan.seats, self._plan.processes):
                nursery.start_soon(self._open_one, user, room)
        return len(self._seats)

    async def _open_one(self, user: int, room: trio.CapacityLimiter) -> None:
        async with room:
            token = self._job.tokens[user]
            plan = self._plan
            self._seats.append(
                await take_seat(self._hub, plan.address, plan.host, token, user=user, ledger=self)
            )

    async def drive(self) -> None:
        """Do nothing."""
        await trio.lowlevel.checkpoint()

    def mark(self) -> Tally:
        """How many are still open."""
        errors, self._errors = self._errors, Counter()
        return Tally(open_sockets=sum(not seat.closed for seat in self._seats), errors=dict(errors))

    async def stop(self) -> Stopped:
        """There is nothing to stop."""
        await trio.lowlevel.checkpoint()
        return Stopped(acknowledged=[], unknown=[])

    async def settle(self, least: list[int], most: list[int]) -> Verdict:
        """There is nothing to settle."""
        del least, most
        await trio.lowlevel.checkpoint()
        return Verdict()
