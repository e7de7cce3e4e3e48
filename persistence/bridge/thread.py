"""The one asyncio thread: trio code hands it coroutines, whole units of work, and gets their results back.

Why a thread: asyncpg needs asyncio, and a hop per statement through trio-asyncio costs 2.5 times a whole query here.

Invariants:
- One wake-up carries however many calls wait: each direction is a deque and a flag. The consumer clears the flag
  *before* it drains, so that an append which saw the flag set is always drained by the wake-up that it saw.
- A call ends in trio only after its asyncio task has ended: what was cancelled has really stopped.
- After `close` nothing waits for the thread: every call still open has been answered.
"""

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from typing import Any, TypeVar, TypeVarTuple

import outcome
import structlog
import trio

from persistence.errors import DatabaseUnavailable

Result = TypeVar("Result")
Args = TypeVarTuple("Args")

_log = structlog.get_logger()

STOP_SECONDS = 3.0
"""How long the thread may take to end its tasks when it is closed; after that it is abandoned (it is a daemon)."""


RESTART_SECONDS = 0.1
"""Pause before a failed service runs again, so that a lasting fault does not fill a core."""


class _Call:
    """One coroutine on its way through the thread."""

    __slots__ = (
        "args", "asyncio_task", "begun", "is_resumed", "outcome", "raise_cancel", "trio_task", "unwanted",
        "work",
    )  # fmt: skip

    def __init__(self, work: Callable[..., Awaitable[Any]], args: tuple[object, ...]) -> None:
        self.work = work
        self.args = args
        self.trio_task = trio.lowlevel.current_task()
        self.asyncio_task: asyncio.Task[None] | None = None
        self.begun = False
        self.is_resumed = False
        self.unwanted = False
        self.raise_cancel: Callable[[], Any] | None = None
        self.outcome: outcome.Outcome[Any] | None = None  # None: it was cancelled

    def resume(self) -> None:
        """Wake the waiting trio task with the call's outcome; in the trio thread, and without effect after the first.

        Without an outcome, the task gets trio's `Cancelled` if it was cancelled, else `DatabaseUnavailable`.
        """
        if self.is_resumed:
            return
        self.is_resumed = True
        # What has failed knows, by its traceback, the frames that know this call.
        result, self.outcome = self.outcome, None
        if result is None and self.raise_cancel is not None:
            result = outcome.capture(self.raise_cancel)
        trio.lowlevel.reschedule(self.trio_task, result or outcome.Error(_closed()))


class AsyncioThread:
    """A daemon thread that runs an asyncio loop, and the two queues between it and trio.

    Args:
        name: the thread's name, as debuggers and `top` show it.
        loop: the loop to run, which is left open at the end; None makes one.
    """

    def __init__(self, name: str, loop: asyncio.AbstractEventLoop | None = None) -> None:
        self._loop = loop or new_loop()
        self._is_lent = loop is not None
        self._runner = threading.Thread(target=copy_context().run, args=(self._run,), name=name, daemon=True)
        self._trio_token = trio.lowlevel.current_trio_token()
        self._inbox: deque[Callable[[], object]] = deque()  # to asyncio
        self._outbox: deque[Callable[[], object]] = deque()  # to trio
        self._loop_is_woken = False
        self._trio_is_woken = False
        self._open_calls: set[_Call] = set()  # trio side only
        self._services: set[asyncio.Task[None]] = set()  # asyncio side only
        self._closed = False

    def start(self) -> None:
        """Start the loop; call it once, in the trio thread."""
        self._runner.start()

    # ---- trio's side

    def post(self, function: Callable[[], object]) -> None:
        """Run a function in the asyncio thread, soon, in the order of these calls; ignored once closed."""
        if self._closed:
            return
        self._inbox.append(function)
        if not self._loop_is_woken:
            self._loop_is_woken = True
            self._loop.call_soon_threadsafe(self._drain_inbox)

    async def run(self, work: Callable[[*Args], Awaitable[Result]], *args: *Args) -> Result:
        """Await `work(*args)` in the asyncio thread.

        Cancellation: the asyncio task is cancelled, and this ends when the task has; if the work was finished by then,
        its result is returned.

        Raises:
            DatabaseUnavailable: the thread was closed before the work ended.
            Exception: whatever `work` raises.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._closed:
            raise _closed()
        call = _Call(work, args)
        self.post(lambda: self._begin(call))

        def abort(raise_cancel: Callable[[], Any]) -> trio.lowlevel.Abort:
            call.raise_cancel = raise_cancel
            self.post(lambda: self._cancel(call))
            return trio.lowlevel.Abort.FAILED

        self._open_calls.add(call)
        try:
            result: Result = await trio.lowlevel.wait_task_rescheduled(abort)
        finally:
            self._open_calls.discard(call)
        return result

    def serve(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run `work()` in the asyncio thread until `close` cancels it; started again whenever it fails."""
        self.post(lambda: self._services.add(self._loop.create_task(_keep_at(work))))

    async def close(self) -> None:
        """Cancel all tasks, end the thread within `STOP_SECONDS`, and answer every call. Cancellation waits for it."""
        if self._closed:
            return
        self._closed = True
        # Not by way of the inbox: a loop that is just emptying it would end before it is called.
        self._loop.call_soon_threadsafe(self._stop)
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(self._runner.join, STOP_SECONDS + 1.0)
            if self._runner.is_alive():
                _log.error("the database thread does not end; it is left behind")
        self._drain_outbox()
        for call in tuple(self._open_calls):
            call.resume()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called; calls are refused from then on."""
        return self._closed

    def _drain_outbox(self) -> None:
        self._trio_is_woken = False
        outbox = self._outbox
        while outbox:
            outbox.popleft()()

    # ---- asyncio's side

    def hand_back(self, function: Callable[[], object]) -> None:
        """Run a function in the trio thread, soon, in the order of these calls; dropped when trio has ended.

        Args:
            function: must not raise.
        """
        self._outbox.append(function)
        if not self._trio_is_woken:
            self._trio_is_woken = True
            with contextlib.suppress(trio.RunFinishedError):
                self._trio_token.run_sync_soon(self._drain_outbox)

    def _drain_inbox(self) -> None:
        self._loop_is_woken = False
        inbox = self._inbox
        while inbox:
            inbox.popleft()()

    def _begin(self, call: _Call) -> None:
        call.asyncio_task = self._loop.create_task(self._perform(call))

    async def _perform(self, call: _Call) -> None:
        # The thread's boundary: whatever the unit raises has to reach the trio task that waits for it.
        call.begun = True
        try:
            if not call.unwanted:
                call.outcome = outcome.Value(await call.work(*call.args))
        except asyncio.CancelledError:
            pass
        except BaseException as error:
            call.outcome = outcome.Error(error)
        self.hand_back(call.resume)

    def _cancel(self, call: _Call) -> None:
        # A task cancelled before its first step never reaches its `try`, and would never answer. So it is not
        # cancelled: once it begins, it sees `unwanted` and ends without running the work.
        call.unwanted = True
        if call.begun and call.asyncio_task is not None:
            call.asyncio_task.cancel()

    def _stop(self) -> None:
        self._drain_inbox()
        self._loop.stop()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            self._end_tasks()
        finally:
            if not self._is_lent:
                self._loop.close()

    def _end_tasks(self) -> None:
        # Twice: `asyncio.wait_for` of Python 3.11 swallows a cancellation that comes together with what it waits for.
        # NATS' client does so where it is just connecting, and its own tasks are not there yet the first time.
        for _ in range(2):
            tasks = asyncio.all_tasks(self._loop)
            for task in tasks:
                task.cancel()
            if tasks:
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=STOP_SECONDS / 2))


async def _keep_at(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    while True:
        try:
            await work()
        except Exception:
            # The thread's boundary too: no task awaits a service, and without the writer every turn would wait.
            _log.exception("a service of the database thread failed; it is started again")
        await asyncio.sleep(RESTART_SECONDS)


def _closed() -> DatabaseUnavailable:
    return DatabaseUnavailable("the bridge to the database is closed")


def new_loop() -> asyncio.AbstractEventLoop:
    """Make an event loop: uvloop's where that is installed, which halves the CPU of a query."""
    try:
        import uvloop  # noqa: PLC0415 — an optional dependency
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop
