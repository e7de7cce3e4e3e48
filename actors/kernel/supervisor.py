"""Faults and their walls: what a fault may take with it, and when an actor that had one is tried again.

A fault is any exception that is neither a refusal nor a failure of the database. Three walls, from the inside
out:

    one letter       `Contained` around its `decide` and `apply`: its caller gets a `Fault`, that is all
    one subscriber   `Contained` around its delivery: this subscription ends, the others do not notice
    one actor        `attempt` around each step of its activation: it stops, answers who waits, and `supervise` loads it
                     again after a pause

This is the only module of the kernel that catches everything; no fault of an actor reaches another.
"""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol

import structlog

from actors.errors import NotFound
from persistence.errors import PersistenceError

_log = structlog.get_logger(__name__)


class Fault(Exception):
    """Our own code failed on this request; the log has the traceback, the caller gets only this."""


class Contained:
    """A block whose faults are logged and kept here, instead of going further. Cancellation passes through.

    Args:
        doing: what the block does, for the log line.
        kind, id: of the actor that it is done for, if any.
    """

    __slots__ = ("_doing", "_id", "_kind", "fault")

    def __init__(self, doing: str, kind: str = "", id: str = "") -> None:
        self._doing = doing
        self._kind = kind
        self._id = id
        self.fault: Exception | None = None

    def __enter__(self) -> "Contained":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        self.fault = error
        _log.error("kernel_fault", doing=self._doing, kind=self._kind, id=self._id, exc_info=error)
        return True


class Named(Protocol):
    """What the log needs of a kind."""

    @property
    def name(self) -> str:
        """The name of the kind; no other has it."""
        ...


class Supervised(Protocol):
    """What `supervise` needs of an actor."""

    @property
    def kind(self) -> Named:
        """Its kind."""
        ...

    @property
    def id(self) -> str:
        """Which of its kind."""
        ...

    async def begin(self) -> None:
        """Load it, and let it live from then on; raises why it cannot.

        Cancellation leaves the actor without an activation.
        """
        ...

    def stopped(self, error: Exception, /) -> None:
        """Answer who waits for this activation."""
        ...

    async def wait_reactivation(self, error: Exception, /) -> bool:
        """Pause, and wait until somebody wants the actor again; False when it may go.

        Cancellation ends the wait and changes nothing.
        """
        ...

    def gone(self) -> None:
        """Leave the directory, at the very end."""
        ...


def attempt(doing: str, kind: str, id: str, run: Callable[..., object], *args: object) -> Exception | None:
    """Call a function whose fault is logged and returned, instead of going further.

    This is `Contained` where it is entered several times a message: 0.1 µs in place of 0.6.

    Args:
        doing, kind, id: as for `Contained`.
        run, args: what is called.
    """
    try:
        run(*args)
    except Exception as fault:
        _log.error("kernel_fault", doing=doing, kind=kind, id=id, exc_info=fault)
        return fault
    return None


async def contained_task(doing: str, run: Callable[..., Awaitable[None]], *args: object) -> None:
    """A task of the kernel whose fault ends this task alone.

    Cancellation is passed on, and is no fault.

    Args:
        doing: what is being done, for the log.
    """
    with Contained(doing):
        await run(*args)


async def supervise(actor: Supervised, error: Exception | None = None) -> None:
    """Bring an actor into memory, as often as it takes; returns when it lives, or nobody wants it any more.

    Cancellation ends it; the actor then stays without an activation.

    Args:
        actor: without an activation.
        error: what ended the last one; None for the first.
    """
    lives = False
    try:
        while error is None or await actor.wait_reactivation(error):
            with Contained("loading an actor", actor.kind.name, actor.id) as loading:
                try:
                    await actor.begin()
                except (PersistenceError, NotFound) as failure:
                    error = failure
                else:
                    lives = True
                    return
            error = loading.fault or error
            if error is not None:
                actor.stopped(error)
    finally:
        if not lives:
            actor.gone()
