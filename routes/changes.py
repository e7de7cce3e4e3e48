"""The one way to change rows: a unit of work is committed, whoever reacts to what has happened is told, and then the
caller is answered.

    unit of work → Change(value, events) → COMMIT → reactions, in the order of the domains → the answer
                                         ↘ outcome unknown → the subject is reconciled: rows are asked what is true

A domain lists what it reacts to, and how it asks the rows about what memory holds of a subject, in
`routes/<domain>/reactions.py`. About other subjects nothing has to be asked: all reactions to what happens to them make
memory read anew, so they are called at once and once more, whether it has happened or not.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar, overload

import trio

from actors.change import Change
from actors.kernel.supervisor import Contained
from persistence.errors import OutcomeUnknown
from routes.call import Call
from routes.service import AskRows, React, Service

E = TypeVar("E")
R = TypeVar("R")
S = TypeVar("S", bound=Hashable)
T = TypeVar("T")

Unit: TypeAlias = Callable[..., Awaitable[R]]
"""`async def unit(conn, *args)`: runs in a transaction, on the bridge's thread."""


@dataclass(frozen=True, slots=True)
class Reaction(Generic[E]):
    """What a domain does when something has happened.

    Args:
        to: the type of the event, exactly.
        tell: called in the trio thread, when the event is committed. What it raises is logged, and keeps nobody else
            from hearing of it.
    """

    to: type[E]
    tell: Callable[[Service, E], Awaitable[None] | None]


@dataclass(frozen=True, slots=True)
class Reconciliation(Generic[S]):
    """How the rows are asked about a subject, after a change of it whose outcome is unknown.

    Args:
        of: the type of the subject, exactly.
        ask: returns what memory has to hear now, as events; is given what has happened if the change was made. Raises
            PersistenceError or Refused when they cannot be asked; then it is called again.
    """

    of: type[S]
    ask: Callable[[Service, S, Sequence[Any]], Awaitable[Sequence[object]]]


def reactions_of(reactions: Iterable[Reaction[Any]]) -> Mapping[type, tuple[React, ...]]:
    """{type of event: what is done, in the order given}."""
    table: dict[type, tuple[React, ...]] = {}
    for reaction in reactions:
        table[reaction.to] = (*table.get(reaction.to, ()), reaction.tell)
    return table


def reconciliations_of(reconciliations: Iterable[Reconciliation[Any]]) -> Mapping[type, AskRows]:
    """{type of subject: how the rows are asked}.

    Raises:
        ValueError: two are of one type.
    """
    table: dict[type, AskRows] = {}
    for one in reconciliations:
        if one.of in table:
            raise ValueError(f"two reconciliations of {one.of.__name__}")
        table[one.of] = one.ask
    return table


@overload
async def change(call: Call, unit: Unit[Change[T]], *args: object, about: Hashable) -> T: ...


@overload
async def change(
    call: Call, unit: Unit[Change[R]], *args: object, about: Hashable, shape: Callable[[R], T]
) -> T: ...


@overload
async def change(call: Call, unit: Unit[T], *args: object, about: None) -> T: ...


@overload
async def change(call: Call, unit: Unit[R], *args: object, about: None, shape: Callable[[R], T]) -> T: ...


async def change(
    call: Call,
    unit: Unit[Any],
    *args: object,
    about: Hashable | None,
    shape: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Change rows for a request: the answer is stored with its Idempotency-Key, where it has one.

    Cancellation before the commit is known leaves the subject to be reconciled.

    Args:
        unit: returns a `Change`, or its value alone where nothing in memory depends on these rows.
        args: for the unit.
        about: the subject that is reconciled when nobody knows whether the change was made: the same for all changes
            that the same question answers; None where nothing in memory depends on these rows.
        shape: makes the answer of the value; runs on the bridge's thread.

    Raises:
        Refused: the unit said no; nothing has changed.
        PersistenceError: as `Database.transact`.
    """
    happened: list[object] = []
    async with _told(call.service, about, happened):
        return await call.transact(_noting(unit, happened), *args, shape=shape)


@overload
async def change_by_itself(service: Service, unit: Unit[Change[T]], *args: object, about: Hashable) -> T: ...


@overload
async def change_by_itself(service: Service, unit: Unit[T], *args: object, about: None) -> T: ...


async def change_by_itself(service: Service, unit: Unit[Any], *args: object, about: Hashable | None) -> Any:
    """The same for what no request has asked for, such as a job.

    Args:
        unit, args, about: as in `change`.

    Raises: as `change`.
    """
    happened: list[object] = []
    async with _told(service, about, happened):
        return await service.database.transact(_noting(unit, happened), *args)


async def reconcile(service: Service) -> None:
    """Ask the rows about every subject in doubt, and tell memory; a job.

    Raises:
        PersistenceError: the rows cannot be asked; what was not reconciled stays in doubt.
    """
    await service.reconciler.reconcile(partial(_reconcile, service))


def _noting(unit: Unit[Any], happened: list[object]) -> Unit[Any]:
    """The unit, for its value; what it says has happened is noted."""

    async def noting(conn: object, *args: object) -> object:
        result = await unit(conn, *args)
        if not isinstance(result, Change):
            return result
        happened[:] = result.events
        return result.value

    return noting


@asynccontextmanager
async def _told(service: Service, about: Hashable | None, happened: list[object]) -> AsyncIterator[None]:
    """Around a transaction and its reactions."""
    try:
        yield
        if not await _react(service, happened) and about is not None:
            service.reconciler.add(about, happened)
    except (OutcomeUnknown, trio.Cancelled):
        if about is not None:
            # The unit may still be running, and has then not yet said what happens.
            service.reconciler.add(about, happened)
            if type(about) not in service.reconciliations:
                _tell_at_once(service, happened)
        raise


async def _react(service: Service, events: Iterable[object]) -> bool:
    """Tell everybody; whether nobody has failed."""
    well = True
    for event in events:
        for react in service.reactions.get(type(event), ()):
            with Contained("reacting", type(event).__name__) as reacting:
                waiting = react(service, event)
                if waiting is not None:
                    await waiting
            well = well and reacting.fault is None
    return well


def _tell_at_once(service: Service, happened: Iterable[object]) -> None:
    """Tell what may have happened before it is known: memory that reads anew is right at once, where it has."""
    for event in happened:
        for react in service.reactions.get(type(event), ()):
            if not inspect.iscoroutinefunction(react):
                react(service, event)


async def _reconcile(service: Service, about: Hashable, happened: Sequence[object]) -> None:
    ask = service.reconciliations.get(type(about))
    await _react(service, happened if ask is None else await ask(service, about, happened))
