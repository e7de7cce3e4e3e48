"""Faults and what contains them: what a fault may end, and when its actor is tried again.

A fault is any exception that is neither a refusal nor a failure of the database. It is contained at three levels,
from the inside out:

    one letter       around its rules and what is read for it: its caller gets a `Fault`, that is all
    one subscriber   around its delivery: this subscription ends, the others do not notice
    one actor        around each step of its activation: it stops, its callers are answered, and `supervise` loads it
                     again after a pause

This is the only module of the kernel that catches everything; no fault of an actor reaches another.
"""

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Protocol

import structlog

from actors.errors import NotFound
from persistence.errors import PersistenceError

_log = structlog.get_logger()


class Fault(Exception):
    """Our own code failed on this request; the log has the traceback, the caller gets only this."""


class Contained:
    """A block whose faults are logged and kept here, instead of going further. Cancellation passes through.

    Args:
        doing: what the block does, for the log line.
        kind, id: the actor that it is done for; empty for none.

    Attributes:
        fault: what the block raised; None when it went well.
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
        """The unique name of the kind."""
        ...


class Supervised(Protocol):
    """What `supervise` needs of an actor."""

    @property
    def kind(self) -> Named:
        """The actor's kind."""
        ...

    @property
    def id(self) -> str:
        """The id of the actor within its kind."""
        ...

    async def begin(self) -> None:
        """Load the actor, which is live from then on; raises what kept it from being loaded.

        Cancellation leaves the actor without an activation.
        """
        ...

    def stopped(self, error: Exception, /) -> None:
        """Answer those that wait for the activation that failed."""
        ...

    async def wait_reactivation(self, error: Exception, /) -> bool:
        """Pause after a failure, and wait until the actor is wanted again; False when it may leave.

        Cancellation ends the wait and changes nothing.
        """
        ...

    def gone(self) -> None:
        """Leave the directory for good, and answer what still waits."""
        ...


def attempt(doing: str, kind: str, id: str, run: Callable[..., object], *args: object) -> Exception | None:
    """Call a function whose fault is logged and returned, instead of going further.

    This is `Contained` where it is entered several times a message: 0.1 µs in place of 0.6.

    Args:
        doing: what the function does, for the log line.
        kind, id: the actor that it is done for; empty for none.
        run, args: the function, and the arguments that it is called with.
    """
    try:
        run(*args)
    except Exception as fault:
        _log.error("kernel_fault", doing=doing, kind=kind, id=id, exc_info=fault)
        return fault
    return None


async def contained_task(doing: str, run: Callable[..., Awaitable[None]], *args: object) -> None:
    """Run a task of the kernel; a fault is logged and ends only this task.

    Cancellation is passed on, and is no fault.

    Args:
        doing: what is being done, for the log.
    """
    with Contained(doing):
        await run(*args)


async def supervise(actor: Supervised, error: Exception | None = None) -> None:
    """Load an actor, as often as it takes; returns when it is live, or has left because it is no longer wanted.

    Cancellation: the actor leaves the directory and answers what waits.

    Args:
        actor: an actor without an activation.
        error: what ended its last activation; None before the first.
    """
    is_live = False
    try:
        while error is None or await actor.wait_reactivation(error):
            with Contained("loading an actor", actor.kind.name, actor.id) as loading:
                try:
                    await actor.begin()
                except (PersistenceError, NotFound) as failure:
                    error = failure
                else:
                    is_live = True
                    return
            error = loading.fault or error
            if error is not None:
                actor.stopped(error)
    finally:
        if not is_live:
            actor.gone()
