"""A server that is measured in turns with others: it and its load stand still while another has the machine."""

import os
import signal
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress

import msgspec
import trio

from scripts.benchmarks.cases import Case, Unit
from scripts.benchmarks.servers import Server, State, serving
from scripts.benchmarks.staging import Stage, staged
from scripts.load import server_process
from scripts.load.clients.exchange import Done, Mark, Open, Opened, Start, Tally
from scripts.load.run import judged, tokens_of
from scripts.load.workers import Workers, hire

FLOW_SECONDS = (
    0.08  # how long the load runs before a round is measured: processes start again, and caches fill
)
LOOK_SECONDS = 0.02  # between looks at the CPU time
MOST_TIMES = 20  # a round takes at most so many times as long as the CPU time that it is to hold
IDLE_SECONDS = 5.0  # how long a server without a load is watched
SETTLE_SECONDS = 2.0  # how long memory may take to be given back before it is read


class Contender(ABC):
    """One server with its load.

    Args:
        case: the workload.
        server: the running server, which stands still except during `round`.
        stage: what the load needs, made on the server.
        workers: the one worker that makes the load.

    Attributes:
        freezes: whether the server stands still with its load.
    """

    def __init__(self, case: Case, server: Server, stage: Stage, workers: Workers) -> None:
        self.case, self.server, self.stage, self.workers = case, server, stage, workers
        self.freezes = True

    @abstractmethod
    async def open(self, rounds: int) -> None:
        """Get ready for so many rounds. Cancellation leaves the server running."""

    @abstractmethod
    async def round(self, number: int, seconds: float) -> float:
        """Run one round; returns what a unit costs, in the measure that `cases.COSTS` has for it.

        Args:
            number: the number of the round, from 0.
            seconds: how much CPU time of the server the round takes, for workloads whose rounds have no length of their
                own.
        """

    async def fault(self) -> str:
        """One line about what clients saw wrongly; empty for nothing."""
        verdict = await judged(self.workers, self.stage.plan)
        return "" if verdict.exact else "; ".join(verdict.examples[:1]) or "not exact"

    def stand_still(self) -> None:
        """Stop the load first, then the server and its database, if it freezes."""
        self._signal(signal.SIGSTOP, self.workers.pids)
        if self.freezes:
            self._signal(signal.SIGSTOP, self._served_by())

    def go_on(self) -> None:
        """Let all processes go on; does nothing to those that run."""
        self._signal(signal.SIGCONT, self._served_by())
        self._signal(signal.SIGCONT, self.workers.pids)

    def _served_by(self) -> list[int]:
        return [*server_process.databases(self.server.pid), *server_process.tree(self.server.pid)]

    @staticmethod
    def _signal(which: signal.Signals, processes: Sequence[int]) -> None:
        for process in processes:
            with suppress(ProcessLookupError):  # processes of PostgreSQL come and go
                os.kill(process, which)

    async def _open(self, worker: int = 0) -> int:
        stage = self.stage
        job = Open(stage.plan, worker, tokens_of(stage.plan, worker, stage.tokens), stage.conversations)
        return (await self.workers.ask([job], Opened))[0].sockets


class Streaming(Contender):
    """A load that goes on all the time: CPU time of a delivery, a message or a request."""

    _idle_share = 0.0

    async def open(self, rounds: int) -> None:
        """Connect, and begin to send."""
        del rounds
        await self._open()
        if not self.freezes:
            await self._measure_idle()
        await self.workers.ask_all(Start(), Done)
        await trio.sleep(1.0)

    async def round(self, number: int, seconds: float) -> float:
        """Run one round of so many seconds of the server's CPU time; returns the CPU µs of a unit.

        Its length is in CPU time, because on a busy machine the server may have next to none in a second of real time.
        """
        del number
        await trio.sleep(FLOW_SECONDS)
        await self.workers.ask_all(Mark(), Tally)
        processes = server_process.tree(self.server.pid)
        began_ns, began_at = server_process.used_ns(processes), trio.current_time()
        with trio.move_on_after(seconds * MOST_TIMES):
            while server_process.used_ns(processes) - began_ns < seconds * 1e9:  # noqa: ASYNC110  (nobody tells us)
                await trio.sleep(LOOK_SECONDS)
        tally = (await self.workers.ask_all(Mark(), Tally))[0]
        idle_ns = self._idle_share * (trio.current_time() - began_at) * 1e9
        used_ns = server_process.used_ns(processes) - began_ns - idle_ns
        return (
            used_ns / 1000 / max(1, tally.delivered if self.case.unit == "delivery" else tally.acknowledged)
        )

    async def _measure_idle(self) -> None:
        """Find out what part of a CPU the server uses without a load, which on a busy machine is much of what a round
        takes.

        Only for servers that go on between rounds: what they use without a load is not the cost of any unit.
        """
        await trio.sleep(SETTLE_SECONDS)
        began_ns, began_at = server_process.cpu_ns(self.server.pid), trio.current_time()
        await trio.sleep(IDLE_SECONDS)
        used_ns = server_process.cpu_ns(self.server.pid) - began_ns
        self._idle_share = used_ns / 1e9 / (trio.current_time() - began_at)


class Opening(Contender):
    """Sockets that are opened, some more in each round: CPU time of opening one."""

    async def open(self, rounds: int) -> None:
        """Deal the users out to the rounds; the first of them warm it up."""
        plan = msgspec.structs.replace(self.stage.plan, processes=rounds + 1)
        self.stage = msgspec.structs.replace(self.stage, plan=plan)
        await self._open(rounds)

    async def round(self, number: int, seconds: float) -> float:
        """Open the sockets of this round; returns the CPU µs of one."""
        del seconds
        began_ns = server_process.cpu_ns(self.server.pid)
        sockets = await self._open(number)
        return (server_process.cpu_ns(self.server.pid) - began_ns) / 1000 / sockets


class Keeping(Contender):
    """Sockets that are open and silent: memory of one. There is only one round."""

    async def open(self, rounds: int) -> None:
        """Nothing is opened beforehand."""
        del rounds
        await trio.sleep(SETTLE_SECONDS)

    async def round(self, number: int, seconds: float) -> float:
        """Open all sockets; returns the KB of one."""
        del number, seconds
        before = server_process.memory_bytes(self.server.pid) or 0
        sockets = await self._open()
        await trio.sleep(SETTLE_SECONDS)
        return ((server_process.memory_bytes(self.server.pid) or 0) - before) / 1000 / sockets


_CONTENDERS: dict[Unit, Callable[[Case, Server, Stage, Workers], Contender]] = {
    "delivery": Streaming,
    "message": Streaming,
    "request": Streaming,
    "opening": Opening,
    "socket": Keeping,
}
UNITS = frozenset(_CONTENDERS)
"""The units that can be measured in turns."""


@asynccontextmanager
async def contending(case: Case, state: State) -> AsyncIterator[Contender]:
    """Start a server with its load and let both stand still; they go on, and end, with the block."""
    async with serving("lean", state) as server:
        stage = await staged(case.options, server, case.messages)
        async with hire(1, state.cpu) as workers:
            one = _CONTENDERS[case.unit](case, server, stage, workers)
            one.freezes = state.freezes
            try:
                yield one
            finally:
                one.go_on()
