"""The facets of kinds and views: optional features beside their core, each a record of functions.

A kind lists the facets that it needs; those it leaves out cost nothing.
"""

from collections.abc import Awaitable, Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from actors.errors import NotFound
from persistence.connection import Connection

State = TypeVar("State")
Command = TypeVar("Command")
StateBoth = TypeVar("StateBoth")


class Forgotten(Exception):
    """Raised by `render_event` for an event that cannot be rendered any more, for example because what it refers to has
    left memory: a snapshot is sent in its place.
    """


class Delta(msgspec.Struct, frozen=True, gc=False):
    """One event as delta subscribers see it.

    Args:
        event: the event's name on the wire, say `message_created`.
        data: the event's content, a struct or `msgspec.Raw`.
        self_: what concerns this audience alone, beside `data` (contract §9); None when nothing does.
        to: when set, only viewers whose `user_id` this is receive it, whatever their audience. Only for
            events outside the journal, because it may overtake those within.
    """

    event: str
    data: object
    self_: object | None = None
    to: str | None = None


class Refresh(Protocol[StateBoth]):
    """Adds to a state the rows that no journaled event describes."""

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rendering(Generic[State]):
    """How subscribers see a kind or view. All pure.

    Args:
        audience: what a viewer sees depends on this key alone, so viewers of one audience receive the same bytes;
            raises `Refused` when this viewer may not subscribe.
        render: the snapshot as that audience sees it, a struct or `msgspec.Raw`.
        render_event: the event as that audience sees it, or None when it is not shown to it; raises `Forgotten` when
            nothing but a snapshot tells how it looks.
        event_key: the part of an audience on which `render_event` depends, so that audiences which agree in it share
            the bytes of an event. None: all of it.
    """

    audience: Callable[[State, Any], Hashable]
    render: Callable[[State, Any], object]
    render_event: Callable[[State, Any, Any], Delta | None]
    event_key: Callable[[Any, Any], Hashable] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lookups(Generic[State, Command]):
    """Reads of committed rows that some commands need before they can be decided. All but `fetch` pure.

    Args:
        missing: names what `decide` needs for this command and the state does not hold (an old message), or None.
            Asked before each command.
        fetch: reads what `missing` named, within the turn.
        absorb: the state with what `fetch` returned, on which that one command is decided.
        forget: the state without it again, so that no other command sees rows that may be stale by then.
        overlaps: whether an event changes rows that `fetch` would read for this need; asked of the events that the turn
            has made so far, and a yes ends the turn before the command. None: every durable event may.
        distrust: a state that no longer skips optional lookups. Called after PostgreSQL has rejected a turn: `missing`
            then names the rows that it normally assumes to be absent (chat: an old `clientMessageId`). Returns the same
            object when there is nothing more to check.
    """

    missing: Callable[[State, Command], Hashable | None]
    fetch: Fetch
    absorb: Callable[[State, Any], State]
    forget: Callable[[State], State]
    overlaps: Callable[[Any, Any], bool] | None = None
    distrust: Callable[[State], State] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Deadlines(Generic[State, Command]):
    """The next deadline of a state, and the command that it triggers. Both are pure.

    Args:
        due: epoch milliseconds of the next deadline, or None.
        expire: the command that the kernel enqueues when that deadline has come, given the state and the time.
    """

    due: Callable[[State], int | None]
    expire: Callable[[State, int], Command]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class News:
    """Events that memory outside the actors follows (which user is in which party), wherever their owner lives.

    Such an event says by itself all that is taken from it, because who hears of it may have no state of its owner.

    Args:
        of: the types of these events.
        hear: called with the owner's id and the event, once the event is committed; neither waits nor raises.
    """

    of: frozenset[type[Any]]
    hear: Callable[[str, Any], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Followers(Generic[State]):
    """Callbacks for committed events, which neither wait nor raise.

    Args:
        touches: (name of a view, ids) for the views that show something of this event and have to be updated.
        news: the events that memory on every node has to know of; heard before `on_committed` is called.
        on_committed: called for every event once it is committed, with the state after its turn: what happens once,
            where the owner lives.
        on_copied: called for every event that this node hears of an owner on another one, because somebody here watches
            it, with the state after its turn; with None in place of events that it has missed.
        on_outcome_unknown: called, on all nodes, with the id of an owner whose last turn may or may not have been
            committed, so that `news` and `on_committed` may have missed something.
    """

    touches: "Callable[[State, Any], Iterable[tuple[str, Collection[str]]]] | None" = None
    news: News | None = None
    on_committed: Callable[[State, Any], None] | None = None
    on_copied: Callable[[State, Any], None] | None = None
    on_outcome_unknown: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Unjournaled(Generic[State]):
    """Reads from rows what snapshots and the journal do not contain.

    Args:
        refresh: after a snapshot was restored, adds the rows that no journaled event describes.
        recall: turns events as the journal stores them into those that `render_event` takes, for a client that was
            disconnected; None where the journal stores them whole.
    """

    refresh: "Refresh[State] | None" = None
    recall: Recall | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slimming(Generic[State]):
    """What a state may do without when much is watched at once (`kernel/slimming.py`). All pure.

    Args:
        spare_bytes: about how many bytes `slim` would set free; 0 where it would leave the state as it is.
        changed_ms: epoch milliseconds of the last change: who was quiet for longest is asked first.
        slim: the state without what rows hold as well; commands are decided on it as on the whole one.
    """

    spare_bytes: Callable[[State], int]
    changed_ms: Callable[[State], int]
    slim: Callable[[State], State]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Together(Generic[State]):
    """Loads many owners in one go, each as the kind would alone.

    Args:
        load: `Kind.load` of many ids, {id: state}; ids without an owner are left out.
        refresh: `Unjournaled.refresh` of many states, {id: state}; None for a kind without it.
    """

    load: "Callable[[Connection, Sequence[str]], Awaitable[Mapping[str, State]]]"
    refresh: "Callable[[Connection, Mapping[str, State]], Awaitable[Mapping[str, State]]] | None" = None


def _refuse(_state: Any, _viewer: Any) -> Hashable:
    raise NotFound


def _no_snapshot(_state: Any, _audience: Any) -> object:
    return None


def _no_event(_state: Any, _event: Any, _audience: Any) -> None:
    return None


UNWATCHED: Rendering[Any] = Rendering(audience=_refuse, render=_no_snapshot, render_event=_no_event)
"""The rendering of a kind that no client may watch: every subscription is refused with NotFound."""
