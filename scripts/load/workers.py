"""The worker processes, as their parent uses them: gives orders to all, and gets all answers."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

import msgspec
import trio

from scripts.load.clients.exchange import Answer, Failed, Order
from scripts.load.worker import Lines

ROOT = Path(__file__).resolve().parents[2]
ANSWER_SECONDS = 180.0  # the longest order is to open thousands of sockets
END_SECONDS = 5.0

_decode: Callable[[bytes], Answer] = msgspec.json.Decoder(Answer).decode
_encode = msgspec.json.Encoder().encode
Expected = TypeVar("Expected", bound=Answer)


class WorkerFailed(Exception):
    """A worker could not do what it was told; the message says why."""


class Worker:
    """One worker process."""

    def __init__(
        self, process: trio.Process, orders: trio.abc.SendStream, answers: trio.abc.ReceiveStream
    ) -> None:
        self.process = process
        self._orders = orders
        self._answers = Lines(answers)

    async def ask(self, order: Order) -> Answer:
        """Give one order and wait for its answer, 3 minutes at most.

        Raises:
            WorkerFailed: the worker failed, ended, or took too long. Cancelled, it cannot be asked again.
        """
        try:
            with trio.fail_after(ANSWER_SECONDS):
                await self._orders.send_all(_encode(order) + b"\n")
                line = await self._answers.next()
        except (trio.BrokenResourceError, trio.TooSlowError) as error:
            raise WorkerFailed("a worker gave no answer") from error
        if line is None:
            raise WorkerFailed("a worker has ended")
        answer = _decode(line)
        if isinstance(answer, Failed):
            raise WorkerFailed(answer.why)
        return answer


class Workers:
    """All workers of one run."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        return [worker.process.pid for worker in self._workers]

    async def ask(self, orders: Sequence[Order], expected: type[Expected]) -> list[Expected]:
        """Give each worker its order; returns all answers, by worker.

        Raises:
            WorkerFailed: one of them failed; the others are not waited for.
        """
        answers: dict[int, Expected] = {}
        failures: list[WorkerFailed] = []

        async def ask_one(number: int, worker: Worker, scope: trio.CancelScope) -> None:
            try:
                answer = await worker.ask(orders[number])
            except WorkerFailed as error:
                failures.append(error)
                scope.cancel()
                return
            if isinstance(answer, expected):
                answers[number] = answer

        async with trio.open_nursery() as nursery:
            for number, worker in enumerate(self._workers):
                nursery.start_soon(ask_one, number, worker, nursery.cancel_scope)
        if failures:
            raise failures[0]
        return [answers[number] for number in range(len(self._workers))]

    async def ask_all(self, order: Order, expected: type[Expected]) -> list[Expected]:
        """Give every worker the same order; returns all answers, by worker."""
        return await self.ask([order] * len(self._workers), expected)


@asynccontextmanager
async def hire(count: int, cpu: int | None = None, niceness: int = 0) -> AsyncIterator[Workers]:
    """Start so many workers; they end with the block.

    Args:
        count: how many workers.
        cpu: the number of the one CPU that they may use; None for any.
        niceness: -20 to 19; a nicer process waits for others on the same CPU.
    """
    async with AsyncExitStack() as stack:
        workers = []
        for _ in range(count):
            process = await trio.lowlevel.open_process(
                [sys.executable, "-m", "scripts.load.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for the parent; a worker ends with its input
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
            stack.push_async_callback(_dismiss, process)
            if cpu is not None:
                os.sched_setaffinity(process.pid, {cpu})
            if niceness:
                prefer(process.pid, niceness)
            if process.stdin is not None and process.stdout is not None:
                workers.append(Worker(process, process.stdin, process.stdout))
        yield Workers(workers)


def prefer(thread: int, niceness: int) -> None:
    """Set how nice a thread is. Only root may make a thread less nice; for others nothing happens."""
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, thread, niceness)


async def _dismiss(process: trio.Process) -> None:
    """End a worker by closing its input; one that does not end is killed."""
    with trio.CancelScope(shield=True), trio.move_on_after(END_SECONDS):
        if process.stdin is not None:
            await process.stdin.aclose()
        await process.wait()
    if process.returncode is None:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
