"""How a domain describes its actors to the kernel: two sorts of records of plain functions, with facets (`facets.py`).

An **owner** (`Kind`) decides commands and persists their events; nothing else writes its rows. A **view** (`View`) owns
no rows: it loads, takes in changes and renders. Neither has a task of its own while it is live.

State is immutable: `apply` returns a new one, so that the scratch state of a turn costs a reference.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeAlias, TypeVar

import msgspec

from actors.errors import NotFound
from actors.kernel.facets import (
    UNWATCHED,
    Deadlines,
    Followers,
    Lookups,
    Rendering,
    Slimming,
    Together,
    Unjournaled,
)
from persistence.connection import Connection
from persistence.journal.turn import Persist, Plan

State = TypeVar("State")
Command = TypeVar("Command")


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that has happened to an actor. Kinds derive their own, tagged with the event's name.

    journaled: it takes a place (an offset) in the journal and can be replayed.
    durable: its rows are written; an event that is neither (typing) is not sent to the writer.
    moves_audience: viewers' audiences are computed again after it (a user joined, left, voted).
    moves_only: the id of the one user whose audience moves with it; None for everybody's. Thousands may watch.
    reframes: it changes what `render` returns; one that does not (typing, read) sends no snapshots.
    rewrites: the journal's earlier events read differently from now on (a text was deleted, a user was erased), so
        events are replayed from the journal only, not from memory.
    needs_rows: it does not say all that the owner's state has after it (names, which the journal does not keep), so
        copies on other nodes read the rows.
    is_in_state: it says nothing but what the state has after it (a name), so a copy that has that already does not
        show it again.
    """

    journaled: ClassVar[bool] = True
    durable: ClassVar[bool] = True
    moves_audience: ClassVar[bool] = False
    moves_only: ClassVar[str | None] = None
    reframes: ClassVar[bool] = True
    rewrites: ClassVar[bool] = False
    needs_rows: ClassVar[bool] = False
    is_in_state: ClassVar[bool] = False

    def note(self) -> "Event":
        """The event as the journal stores it. One that carries whole rows is stored with a reference to them, which the
        kind's `recall` turns into the rows again.
        """
        return self


Moved: TypeAlias = bool | frozenset[str]
"""Whose audiences are computed again: True for everybody's, else the ids of users; False for nobody's."""


def moved_by(events: Iterable[Any]) -> Moved:
    """Whose audiences some events move."""
    moved: frozenset[str] = frozenset()
    for event in events:
        if event.moves_audience:
            if event.moves_only is None:
                return True
            moved |= {event.moves_only}
    return moved or False


class Peek(Protocol):
    """Returns the committed state of a live owner, without activating one."""

    def __call__(self, kind: "Kind[State, Any]", id: str, /) -> State | None:
        """The state, or None when the owner is not live."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[State, Command]):
    """An owner: a core of pure functions, and the facets that it needs.

    Args:
        name: a unique name, used in the journal, in channel names and in statistics.
        version: the version of the snapshot's encoding; a snapshot of another version is never loaded.
        events: the union of the kind's event structs, for the journal.
        load: rebuilds the state from rows; returns None when there is no such owner.
        dump, restore: turn the state into the bytes of a snapshot, and back.
        decide: the events that the command makes, given the state, the command and epoch milliseconds; raises
            `Refused`, and then nothing has changed.
        apply: the state after an event; defined for every event in every state.
        answer: what the caller is told, from the state after the turn's events of this command.
        persist: writes the rows of many turns, in the writer's transaction.
        plan: the statements that `persist` would run, where they are independent of each other; else None.
        summary: what lists show, kept beside the head row; None where no list needs it.
        unknown: the exception that callers get when there is no such owner.
        rendering: how subscribers see the owner; without one, no client can watch it.
        lookups: rows that some commands need to be decided.
        deadlines: the deadline of a state, and the command that it triggers.
        followers: callbacks for its committed events.
        unjournaled: reads from rows what snapshots and the journal do not contain.
        together: loads many owners that are wanted at once; None where that saves nothing.
        slimming: what a state may do without while memory is short; None where all of it is needed.
        crossing: the commands that may be sent to an owner on another node: {type of the command: type of its reply,
            None without one}. Every other command has to be asked on the owner's own node.
        unshown: the events, none of them in rows, that lead from one state to another whose rows were changed otherwise
            than by turns. A copy tells them in place of a snapshot, which does not show such a change; without it,
            snapshots do.
    """

    name: str
    version: int
    events: Any
    load: "Load[State]"
    dump: Callable[[State], bytes]
    restore: Callable[[bytes], State]
    decide: Callable[[State, Command, int], Sequence[Event]]
    apply: Callable[[State, Any], State]
    answer: Callable[[State, Command, Sequence[Event]], Any]
    persist: Persist
    plan: Plan | None = None
    summary: Callable[[State], bytes] | None = None
    unknown: type[NotFound] = NotFound
    rendering: Rendering[State] = UNWATCHED
    lookups: Lookups[State, Command] | None = None
    deadlines: Deadlines[State, Command] | None = None
    followers: Followers[State] | None = None
    unjournaled: Unjournaled[State] | None = None
    together: Together[State] | None = None
    slimming: Slimming[State] | None = None
    crossing: Mapping[type[Any], Any] = field(default_factory=dict)
    unshown: Callable[[State, State], Sequence[Event]] | None = None

    def due(self, state: State) -> int | None:
        """The next deadline in epoch milliseconds, or None."""
        return None if self.deadlines is None else self.deadlines.due(state)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durable(Generic[State]):
    """What makes the offsets of a view durable: rows that say what has happened at each of them (contract §9).

    Args:
        position: returns the epoch and offset of the last event in a state.
        replay: reads the events between two offsets; they are what the view's `render_event` takes.
        recall: the events above an offset that a state itself remembers, in order; None = they must be read from rows.
        size_bytes: about how much such an event takes to be kept for clients that reconnect soon; left out, they are
            small.
    """

    position: Callable[[State], tuple[str, int]]
    replay: "Replay"
    recall: Callable[[State, int], list[tuple[int, Any]] | None] | None = None
    size_bytes: Callable[[Any], int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View(Generic[State]):
    """A view: what one user sees of many owners. It has no task, no rows and no `decide`.

    Args:
        name: a unique name, which is also the channel's.
        load: reads the whole state of one view.
        load_many: reads the states of many views in one query; None where that saves nothing.
        reread: reads again what the given sources show, for those that `take` could not serve.
        take: takes in changed sources from the live owners; returns the new state and what is still to be
            read.
        absorb: takes in what `reread` returned.
        rendering: how subscribers see the view; `render_event` is called once for each source that changed, or each of
            `events`.
        interval_ms: frames to one viewer are at least this far apart.
        adopt: called in the trio thread with the present state (None at first) and the next one, before that is shown;
            returns the state to keep. Here a view updates what live views share in memory, such as who watches whom.
            Never waits.
        release: called with the last state once the last viewer has left.
        events: the events that lead from one state to the next, given the sources that changed; if there are none,
            nothing is sent. One that is not `journaled` has no offset. Left out, each source is an event.
        durable: None = offsets count in memory, under a new epoch at each load. Else `render_event` is asked for each
            event that `replay` returns, and for the changed sources where the rows tell of no event.
        differing: the sources with which a state that is shown has to be marked to become one that was just read from
            rows; none where it says the same. Left out, the view shows memory, which finds out by itself what it has
            missed.
    """

    name: str
    load: "Load[State]"
    reread: "Reread"
    take: "Callable[[State, AbstractSet[str], Peek], tuple[State, AbstractSet[str]]]"
    absorb: Callable[[State, Any], State]
    rendering: Rendering[State]
    load_many: "LoadMany[State] | None" = None
    interval_ms: int = 250
    adopt: "Callable[[State | None, State], State] | None" = None
    release: Callable[[State], None] | None = None
    events: "Callable[[State, State, Collection[str]], Sequence[Event]] | None" = None
    durable: Durable[State] | None = None
    differing: "Callable[[State, State], Collection[str]] | None" = None


StateOut_co = TypeVar("StateOut_co", covariant=True)


class Load(Protocol[StateOut_co]):
    """Reads a state from its rows."""

    async def __call__(self, conn: Connection, id: str, /) -> StateOut_co | None:
        """The whole state, or None when there is no owner or view with this id."""
        ...


class LoadMany(Protocol[StateOut_co]):
    """Reads the states of many views from their rows."""

    async def __call__(self, conn: Connection, ids: Sequence[str], /) -> Mapping[str, StateOut_co]:
        """{id: the whole state}; ids without a state are left out.

        Args:
            ids: the ids of the views, each once.
        """
        ...


class Reread(Protocol):
    """Reads the changed sources of a view."""

    async def __call__(self, conn: Connection, id: str, sources: AbstractSet[str], /) -> Any:
        """What the view's `absorb` takes."""
        ...


class Replay(Protocol):
    """Reads the events of a durable view from its rows."""

    async def __call__(
        self, conn: Connection, id: str, after: int, upto: int, /
    ) -> list[tuple[int, Any]] | None:
        """The events at the offsets above `after` up to `upto`, in order; None when some are no longer kept, or when
        reading them would take longer than others can wait for the database's thread: viewers take a snapshot then."""
        ...
