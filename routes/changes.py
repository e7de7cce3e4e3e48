"""The one way to change rows: commit a unit of work, call the reactions to its events, then answer the caller.

    unit of work → Change(value, events) → COMMIT → reactions, in the order of the domains → the answer
                                         ↘ outcome unknown → the subject is reconciled with its rows

A domain lists its reactions and reconciliations in `routes/<domain>/reactions.py`. A subject without a reconciliation
needs none: every reaction to its events only makes memory reload its rows, which does no harm if nothing has changed.
After an unknown outcome the synchronous ones are called at once, and all of them when the subject is reconciled.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar, TypeVarTuple, overload

import trio

from actors.change import Change
from actors.kernel.supervisor import Contained, Fault
from persistence.connection import Connection, Unit
from persistence.errors import PASSING, OutcomeUnknown
from routes.call import Call
from routes.service import AskRows, React, Service

E = TypeVar("E")
R = TypeVar("R")
S = TypeVar("S", bound=Hashable)
T = TypeVar("T")
Args = TypeVarTuple("Args")

RETRY_SECONDS = 1.0
"""Pause after a reaction to another node's event has failed."""


@dataclass(frozen=True, slots=True)
class Reaction(Generic[E]):
    """What a domain does after an event was committed.

    Args:
        to: the exact type of the event; subclasses do not match.
        tell: called in the trio thread. What it raises is logged, and does not stop the other reactions.
        once: called on the node alone that made the change, because it turns to actors, which live on one node each;
            otherwise on all nodes, for the memory of each.
    """

    to: type[E]
    tell: Callable[[Service, E], Awaitable[None] | None]
    once: bool = False


@dataclass(frozen=True, slots=True)
class Reconciliation(Generic[S]):
    """How to reload what memory holds of a subject, after a change whose outcome is unknown.

    Args:
        of: the exact type of the subject.
        ask: reads the rows and returns the events to react to now; is given the subject and the events that the change
            has if it was committed. When it raises, or a reaction does, it is called again later.
    """

    of: type[S]
    ask: Callable[[Service, S, Sequence[Any]], Awaitable[Sequence[object]]]


def reactions_of(reactions: Iterable[Reaction[Any]]) -> Mapping[type, tuple[React, ...]]:
    """Group reactions: {type of event: its reactions, in the order given}."""
    table: dict[type, tuple[React, ...]] = {}
    for reaction in reactions:
        table[reaction.to] = (*table.get(reaction.to, ()), reaction.tell)
    return table


def reconciliations_of(reconciliations: Iterable[Reconciliation[Any]]) -> Mapping[type, AskRows]:
    """Index reconciliations: {type of subject: its `ask`}.

    Raises:
        ValueError: two are for the same type.
    """
    table: dict[type, AskRows] = {}
    for one in reconciliations:
        if one.of in table:
            raise ValueError(f"two reconciliations of {one.of.__name__}")
        table[one.of] = one.ask
    return table


@overload
async def change(call: Call, unit: Unit[*Args, Change[T]], *args: *Args, about: Hashable) -> T: ...


@overload
async def change(
    call: Call, unit: Unit[*Args, Change[R]], *args: *Args, about: Hashable, shape: Callable[[R], T]
) -> T: ...


@overload
async def change(call: Call, unit: Unit[*Args, T], *args: *Args, about: None) -> T: ...


@overload
async def change(
    call: Call, unit: Unit[*Args, R], *args: *Args, about: None, shape: Callable[[R], T]
) -> T: ...


async def change(
    call: Call,
    unit: Unit[*Args, Any],
    *args: *Args,
    about: Hashable | None,
    shape: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Change rows for a request; if it has an Idempotency-Key, the answer is stored with it in the transaction.

    Cancellation: the change may still be committed; the subject is reconciled then.

    Args:
        unit: returns a `Change`, or the bare value if nothing in memory depends on these rows.
        args: passed to the unit.
        about: the subject to reconcile if the outcome is unknown: equal for all changes that the same read covers; None
            if nothing in memory depends on these rows.
        shape: turns the value into the answer; runs on the bridge's thread.

    Raises:
        Refused: the unit refused; nothing has changed.
        PersistenceError: nothing has changed, or, with OutcomeUnknown, the change may have been committed.
    """
    happened: list[object] = []
    async with _reacting(call.service, about, happened):
        return await call.transact(_noting(unit, happened), *args, shape=shape)


@overload
async def change_by_itself(
    service: Service, unit: Unit[*Args, Change[T]], *args: *Args, about: Hashable
) -> T: ...


@overload
async def change_by_itself(service: Service, unit: Unit[*Args, T], *args: *Args, about: None) -> T: ...


async def change_by_itself(
    service: Service, unit: Unit[*Args, Any], *args: *Args, about: Hashable | None
) -> Any:
    """Change rows without storing an answer for a repeated request: for jobs, and for steps within a request.

    Args:
        unit, args, about: as in `change`, and it raises and is cancelled like it.
    """
    happened: list[object] = []
    async with _reacting(service, about, happened):
        return await service.database.transact(_noting(unit, happened), *args)


async def announce(service: Service, event: object) -> None:
    """Tell all nodes of an event that is stored in no row: call its reactions here, and wait until the other nodes have
    called theirs, as after a change of rows.

    Cancellation ends the wait; the other nodes call their reactions all the same.
    """
    async with _reacting(service, None, [event]):
        pass


def reconcile_when_parted(service: Service, about: Hashable) -> None:
    """Reconcile a subject whenever another node has ended, since that node may not have told of all its changes.

    Args:
        about: a subject that stands for everything of its kind that is in memory, so that several ended nodes cost one
            read. Its reconciliation concerns the memory of this node alone, since every other node queues it as well.
    """
    if service.node is not None:
        service.node.membership.peers.on_parted(lambda _node: service.reconciler.add(about))


async def reconcile(service: Service) -> None:
    """Reconcile every subject whose last change has an unknown outcome; run as a job.

    Raises:
        PersistenceError: the rows cannot be read; subjects not reconciled yet stay queued.
    """
    await service.reconciler.reconcile(partial(_reconcile, service))


def _noting(unit: Unit[*Args, Any], happened: list[object]) -> Unit[*Args, Any]:
    """Wrap the unit: returns its value alone, and puts its events into `happened`."""

    async def noting(conn: Connection, *args: *Args) -> Any:
        result = await unit(conn, *args)
        if not isinstance(result, Change):
            return result
        happened[:] = result.events
        return result.value

    return noting


@asynccontextmanager
async def _reacting(service: Service, about: Hashable | None, happened: list[object]) -> AsyncIterator[None]:
    """Wrap a transaction: call its reactions after the commit, reconcile its subject if they fail or it is in doubt."""
    try:
        yield
        if not await _react(service, happened) and about is not None:
            service.reconciler.add(about, happened)
        if service.node is not None and happened:
            await service.node.retelling.wait_followed()
    except (OutcomeUnknown, trio.Cancelled):
        if about is not None:
            # The unit may still be running and fill `happened` later, so the list itself is handed over.
            service.reconciler.add(about, happened)
            if type(about) not in service.reconciliations:
                _tell_at_once(service, happened)
        raise


async def _react(service: Service, events: Iterable[object]) -> bool:
    """Call all reactions; returns whether none has failed."""
    well = True
    for event in events:
        if service.node is not None:
            service.node.retelling.tell(event)
        well = not await _call(service, service.reactions, event) and well
    return well


async def _call(
    service: Service, reactions: Mapping[type, tuple[React, ...]], event: object
) -> list[Exception]:
    """Call the reactions to an event; returns what they have raised."""
    faults = []
    for react in reactions.get(type(event), ()):
        with Contained("reacting", type(event).__name__) as reacting:
            waiting = react(service, event)
            if waiting is not None:
                await waiting
        if reacting.fault is not None:
            faults.append(reacting.fault)
    return faults


async def follow_others(service: Service) -> None:
    """React to what has happened on other nodes, in the order in which each tells it, until cancelled.

    A reaction that cannot read the database is tried until it can: what it would have read is lost to memory otherwise.
    Whatever else one raises is logged, and would only come again.
    """
    if service.node is None:
        return
    while True:
        node, number, event = await service.node.retelling.next()
        while any(  # noqa: ASYNC110 - nobody says when the database is back
            isinstance(fault, PASSING) for fault in await _call(service, service.memory_reactions, event)
        ):
            await trio.sleep(RETRY_SECONDS)
        service.node.retelling.followed(node, number)


def _tell_at_once(service: Service, happened: Iterable[object]) -> None:
    """Call reactions before the outcome is known: they make memory reload, which is right in either case."""
    for event in happened:
        for react in service.reactions.get(type(event), ()):
            if not inspect.iscoroutinefunction(react):
                react(service, event)


async def _reconcile(service: Service, about: Hashable, happened: Sequence[object]) -> None:
    ask = service.reconciliations.get(type(about))
    if not await _react(service, happened if ask is None else await ask(service, about, happened)):
        raise Fault  # memory is stale still
