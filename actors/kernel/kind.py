"""What a domain tells the kernel about its actors: records of plain functions, two sorts.

An **owner** (`Kind`) decides and persists; no one else writes its rows. A **view** (`View`) owns nothing: it loads, is
told what changed, and frames. Neither has a task while it lives.

State is immutable: `apply` returns a new one, so that the scratch state of a turn costs a reference.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import msgspec

from actors.errors import NotFound
from persistence.connection import Connection
from persistence.journal.turn import Persist, Plan

State = TypeVar("State")
Command = TypeVar("Command")


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that has happened to an actor. Kinds derive their own, tagged with the event's name.

    journaled: it takes a place (an offset) in the journal and can be replayed.
    durable: it has rows; an event that is neither (typing) never meets the writer.
    moves_audience: viewers' audiences are computed again after it (somebody joined, left, voted).
    reframes: it changes what `frame` returns; one that does not (typing, read) sends no snapshots.
    rewrites: what happened before is told in other words from now on (a text was deleted, somebody was erased): the
        journal has them, and nothing is replayed from memory.
    """

    journaled: ClassVar[bool] = True
    durable: ClassVar[bool] = True
    moves_audience: ClassVar[bool] = False
    reframes: ClassVar[bool] = True
    rewrites: ClassVar[bool] = False

    def note(self) -> "Event":
        """What the journal keeps of it. An event that carries whole rows keeps a reference to them, which the kind's
        `recall` turns into the rows again.
        """
        return self


class Delta(msgspec.Struct, frozen=True, gc=False):
    """One event as delta subscribers see it.

    Args:
        event: the event's name on the wire, say `message_created`.
        data: a struct or `msgspec.Raw`.
        self_: what concerns this audience alone, beside `data` (contract §9); None when nothing does.
        to: when set, only viewers whose `user_id` this is receive it, whatever their audience. Only for
            events outside the journal, because it may overtake those within.
    """

    event: str
    data: object
    self_: object | None = None
    to: str | None = None


class Peek(Protocol):
    """Looks at the committed state of a live owner without waking it."""

    def __call__(self, kind: "Kind[Any, Any]", id: str, /) -> Any:
        """The state, or None when the owner is not live."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Kind(Generic[State, Command]):
    """An owner. All functions but the async ones are pure, and none waits for anything but its connection.

    Args:
        name: unique, in the journal, in channel names and in statistics.
        version: of the snapshot's encoding; a snapshot of another version is never loaded.
        events: the union of the kind's event structs, for the journal.
        load: rebuilds the state from rows; None when there is no such thing.
        refresh: after a snapshot was restored, takes in the rows that no journaled event tells of.
        dump, restore: the state to bytes and back.
        missing: what `decide` would need that is not in memory (an old message), or None. Asked first.
        fetch, absorb: read what is missing, inside the turn, from committed rows; take it into the state on which
            that one command is decided.
        forget: the state without what `absorb` took in, so that nothing read for one command is seen by another.
        overlaps: whether an event changes rows that `fetch` would read for a need; asked of the events that the
            turn has made so far. None: every durable event may.
        decide: the events that the command makes; raises `Refused`, and then nothing has changed.
        apply: the state after the event; total.
        answer: what the caller is told, from the state after the turn's events of this command.
        persist: writes the rows of many turns, in the writer's transaction.
        plan: the statements that `persist` would run, where they are independent of each other; else None.
        due: epoch milliseconds of the next deadline, or None.
        expire: the command that the kernel posts to the actor when that deadline has come.
        summary: what lists show, kept beside the head row.
        audience: viewers of one audience receive the same bytes; raises `Refused` when one may not look.
        frame: the snapshot as that audience sees it, a struct or `msgspec.Raw`.
        delta: the event as that audience sees it, or None when it is not shown to it.
        touches: names of views, and the ids in them, that show something of this event.
        unknown: what callers get when there is no such owner.
        distrust: the state after rows of it were refused: one for which `missing` asks for what it took for granted
            before, to save a read that nearly always finds nothing. The same state when there is no more to ask.
        on_committed: told of every event once it is committed, with the state after its turn: what keeps soft memory
            beside the actors (who is in which party). Neither waits nor raises.
        recall: turns events as the journal keeps them into such as `delta` shows, for a client that was away; where
            the journal keeps them whole, None.
        delta_key: what of an audience the `delta` of an event depends on: such as differ in nothing
            else share its bytes. None: all of it.
        on_outcome_unknown: told of an owner whose last turn may or may not have been committed, so that
            `on_committed` may miss something. Neither waits nor raises.
    """

    name: str
    version: int
    events: Any
    load: "Load[State]"
    refresh: "Refresh[State]"
    dump: Callable[[State], bytes]
    restore: Callable[[bytes], State]
    missing: Callable[[State, Command], Hashable | None]
    fetch: "Fetch"
    absorb: Callable[[State, Any], State]
    forget: Callable[[State], State]
    decide: Callable[[State, Command, int], Sequence[Event]]
    apply: Callable[[State, Any], State]
    answer: Callable[[State, Command, Sequence[Event]], Any]
    persist: Persist
    due: Callable[[State], int | None]
    expire: Callable[[State, int], Command]
    summary: Callable[[State], bytes]
    audience: Callable[[State, Any], Hashable]
    frame: Callable[[State, Any], object]
    delta: Callable[[State, Any, Any], Delta | None]
    touches: "Callable[[State, Any], Iterable[tuple[str, Collection[str]]]]"
    unknown: type[NotFound] = NotFound
    overlaps: Callable[[Any, Any], bool] | None = None
    plan: Plan | None = None
    distrust: "Callable[[State], State] | None" = None
    on_committed: Callable[[State, Any], None] | None = None
    on_outcome_unknown: Callable[[str], None] | None = None
    recall: "Recall | None" = None
    delta_key: Callable[[Any, Any], Hashable] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durable(Generic[State]):
    """What makes the offsets of a view durable: rows that say what has happened at each of them (contract §9).

    Args:
        position: epoch and offset of the last event in a state.
        replay: reads the events between two offsets; they are what the view's `delta` takes.
        recall: the events above an offset that a state itself remembers, in order; None = the rows must tell.
    """

    position: Callable[[State], tuple[str, int]]
    replay: "Replay"
    recall: Callable[[State, int], list[tuple[int, Any]] | None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class View(Generic[State]):
    """A view: what one user sees of many owners. It has no task, no rows and no `decide`.

    Args:
        name: unique; also the channel's name.
        load: reads it whole.
        reread: reads again what the given sources show, for those that `take` could not serve.
        take: takes in changed sources from the live owners; returns the new state and what is still to be
            read.
        absorb: takes in what `reread` returned.
        frame, audience, delta, delta_key: as in `Kind`; `delta` is asked once for each source that changed, or each of
            `events`.
        interval_ms: frames to one viewer are at least this far apart.
        adopt: told of a state that is about to be shown and of the one that it follows (None at first), in the
            trio thread; returns the state to keep. What live views share in memory, such as who watches whom,
            hangs here. Never waits.
        release: told of the last state when nobody looks any more.
        events: what viewers are told of the step from one state to the next, given the sources that changed;
            none at all and nothing is sent. One that is not `journaled` has no offset. Left out, each source is
            an event.
        durable: None = offsets count in memory, under a new epoch at each load. Else `delta` is asked for each event
            that `replay` returns, and for the changed sources where the rows tell of no event.
    """

    name: str
    load: "Load[State]"
    reread: "Reread"
    take: "Callable[[State, AbstractSet[str], Peek], tuple[State, AbstractSet[str]]]"
    absorb: Callable[[State, Any], State]
    audience: Callable[[State, Any], Hashable]
    frame: Callable[[State, Any], object]
    delta: Callable[[State, Any, Any], Delta | None]
    interval_ms: int = 250
    adopt: "Callable[[State | None, State], State] | None" = None
    release: Callable[[State], None] | None = None
    events: "Callable[[State, State, Collection[str]], Sequence[Event]] | None" = None
    durable: Durable[State] | None = None
    delta_key: Callable[[Any, Any], Hashable] | None = None


StateOut_co = TypeVar("StateOut_co", covariant=True)
StateBoth = TypeVar("StateBoth")


class Load(Protocol[StateOut_co]):
    """Reads a state from its rows."""

    async def __call__(self, conn: Connection, id: str, /) -> StateOut_co | None:
        """The whole state, or None when there is no such thing."""
        ...


class Refresh(Protocol[StateBoth]):
    """Takes in rows that the journal does not tell of."""

    async def __call__(self, conn: Connection, id: str, state: StateBoth, /) -> StateBoth:
        """The state with those rows in it."""
        ...


class Fetch(Protocol):
    """Reads what `missing` named."""

    async def __call__(self, conn: Connection, id: str, missing: Any, /) -> Any:
        """What `absorb` takes."""
        ...


class Recall(Protocol):
    """Reads the rows that events of the journal refer to."""

    async def __call__(
        self, conn: Connection, id: str, missed: Sequence[tuple[int, Any]], /
    ) -> list[tuple[int, Any]] | None:
        """(offset, event) in order, one for each; None when a snapshot serves better."""
        ...


class Reread(Protocol):
    """Reads the changed sources of a view."""

    async def __call__(self, conn: Connection, id: str, sources: AbstractSet[str], /) -> Any:
        """What the view's `absorb` takes."""
        ...


class Replay(Protocol):
    """Reads what has happened in a durable view."""

    async def __call__(
        self, conn: Connection, id: str, after: int, upto: int, /
    ) -> list[tuple[int, Any]] | None:
        """The events at the offsets above `after` up to `upto`, in order; None when some are no longer kept."""
        ...
