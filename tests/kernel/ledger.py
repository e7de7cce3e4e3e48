"""The demo kind of these tests: a ledger that several people write into, with one of everything.

Deposit      journaled; an amount of 13 breaks a constraint of the rows
Withdraw     refused when the money is not there
Promote      moves audiences: bosses see the secret
Kick         moves audiences: the kicked may no longer look
Read         durable, outside the journal, shown to the reader alone
Wave         neither durable nor journaled
Rename       rows have another name already; shown in snapshots, and outside the journal
SetAlarm     a deadline; the kernel's `expire` answers it with Rang
Recall       needs an entry that is no longer in memory
Explode      a fault of ours, in the rule that it names
"""

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import msgspec
from trio.testing import MockClock

from actors.errors import Conflict, Forbidden
from actors.kernel.facets import Deadlines, Delta, Followers, Lookups, Rendering, Unjournaled
from actors.kernel.kind import Event, Kind
from persistence.errors import RowsRejected
from persistence.journal.turn import Turn

# Entries in memory; older ones are fetched.
RECENT = 5

PURSES = "purse"
"""Name of the view that follows ledgers (`purse.py`)."""


class Entry(msgspec.Struct, frozen=True):
    by: str
    amount: int


class Ledger(msgspec.Struct, frozen=True):
    total: int = 0
    count: int = 0
    recent: tuple[Entry, ...] = ()
    bosses: tuple[str, ...] = ()
    kicked: tuple[str, ...] = ()
    alarm_ms: int | None = None
    rang: int = 0
    reads: dict[str, int] = {}
    name: str = ""
    recalled: Entry | None = None


class Deposit(msgspec.Struct, frozen=True):
    by: str
    amount: int


class Withdraw(msgspec.Struct, frozen=True):
    by: str
    amount: int


class Promote(msgspec.Struct, frozen=True):
    who: str


class Kick(msgspec.Struct, frozen=True):
    who: str


class Read(msgspec.Struct, frozen=True):
    by: str


class Wave(msgspec.Struct, frozen=True):
    by: str


class Rename(msgspec.Struct, frozen=True):
    name: str


class SetAlarm(msgspec.Struct, frozen=True):
    at_ms: int


class Ring(msgspec.Struct, frozen=True):
    now_ms: int


class Recall(msgspec.Struct, frozen=True):
    index: int


class Explode(msgspec.Struct, frozen=True):
    where: str


class Changed(Event, frozen=True, tag="changed"):
    by: str
    amount: int


class Promoted(Event, frozen=True, tag="promoted"):
    moves_audience: ClassVar[bool] = True
    who: str


class Kicked(Event, frozen=True, tag="kicked"):
    moves_audience: ClassVar[bool] = True
    who: str


class WasRead(Event, frozen=True, tag="was_read"):
    journaled: ClassVar[bool] = False
    reframes: ClassVar[bool] = False
    by: str
    count: int


class Waved(Event, frozen=True, tag="waved"):
    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    reframes: ClassVar[bool] = False
    by: str


class Renamed(Event, frozen=True, tag="renamed"):
    journaled: ClassVar[bool] = False
    durable: ClassVar[bool] = False
    is_in_state: ClassVar[bool] = True
    name: str


class AlarmSet(Event, frozen=True, tag="alarm_set"):
    at_ms: int


class Rang(Event, frozen=True, tag="rang"):
    at_ms: int


class Exploded(Event, frozen=True, tag="exploded"):
    where: str


Events = Changed | Promoted | Kicked | WasRead | Waved | Renamed | AlarmSet | Rang | Exploded


class Viewer(msgspec.Struct, frozen=True):
    user_id: str


class Rows(Protocol):
    """Where ledgers are kept: in the simulation's memory, or in PostgreSQL."""

    async def load(self, conn: Any, id: str) -> Ledger | None: ...
    async def persist(self, conn: Any, turns: Sequence[Turn]) -> None: ...
    async def fetch(self, conn: Any, id: str, missing: Any) -> Any: ...
    async def refresh(self, conn: Any, id: str, state: Ledger) -> Ledger: ...


def missing(state: Ledger, command: Any) -> Hashable | None:
    if isinstance(command, Recall) and command.index < state.count - len(state.recent):
        return command.index
    return None


def absorb(state: Ledger, found: Any) -> Ledger:
    return msgspec.structs.replace(state, recalled=found)


def decide(state: Ledger, command: Any, now_ms: int) -> Sequence[Event]:
    match command:
        case Deposit(by, amount):
            return [Changed(by, amount)]
        case Withdraw(by, amount):
            if amount > state.total:
                raise Conflict("there is not that much", total=state.total)
            return [Changed(by, -amount)]
        case Promote(who):
            return [Promoted(who)]
        case Kick(who):
            return [Kicked(who)]
        case Read(by):
            return [WasRead(by, state.count)]
        case Wave(by):
            return [Waved(by)]
        case Rename(name):
            return [] if name == state.name else [Renamed(name)]
        case SetAlarm(at_ms):
            return [AlarmSet(at_ms)]
        case Ring(at):
            return [Rang(at)] if state.alarm_ms is not None and state.alarm_ms <= at else []
        case Recall():
            return []
        case Explode(where):
            if where == "decide":
                raise ZeroDivisionError(where)
            return [Changed("bomb", 1), Exploded(where)]
    raise AssertionError(command)


def apply(state: Ledger, event: Any) -> Ledger:
    replace = msgspec.structs.replace
    match event:
        case Changed(by, amount):
            return replace(
                state,
                total=state.total + amount,
                count=state.count + 1,
                recent=(*state.recent, Entry(by, amount))[-RECENT:],
                recalled=None,
            )
        case Promoted(who):
            return replace(state, bosses=tuple(sorted({*state.bosses, who})))
        case Kicked(who):
            return replace(state, kicked=tuple(sorted({*state.kicked, who})))
        case WasRead(by, count):
            return replace(state, reads=state.reads | {by: count})
        case Renamed(name):
            return replace(state, name=name)
        case AlarmSet(at_ms):
            return replace(state, alarm_ms=at_ms)
        case Rang():
            return replace(state, alarm_ms=None, rang=state.rang + 1)
        case Exploded(where):
            if where == "apply":
                raise ZeroDivisionError(where)
            return state
    return state


def answer(state: Ledger, command: Any, events: Sequence[Event]) -> Any:
    if isinstance(command, Explode) and command.where == "answer":
        raise ZeroDivisionError
    if isinstance(command, Recall):
        recent_from = state.count - len(state.recent)
        return state.recalled if command.index < recent_from else state.recent[command.index - recent_from]
    return state.total


def audience(state: Ledger, viewer: Viewer) -> Hashable:
    if viewer.user_id in state.kicked:
        raise Forbidden
    return "boss" if viewer.user_id in state.bosses else "member"


def frame(state: Ledger, audience: Any) -> object:
    seen: dict[str, Any] = {
        "total": state.total,
        "count": state.count,
        "bosses": state.bosses,
        "kicked": state.kicked,
        "alarm": state.alarm_ms,
        "rang": state.rang,
        "name": state.name,
    }
    if audience == "boss":
        seen["secret"] = state.total * 2
    return seen


def delta(state: Ledger, event: Any, audience: Any) -> Delta | None:
    match event:
        case WasRead(by, count):
            return Delta("read", {"by": by, "count": count}, to=by)
        case Exploded(where) if where == "delta":
            raise ZeroDivisionError
        case Exploded():
            return None
    boss = audience == "boss" and event_key(event, audience) is not None
    return Delta(type(event).__name__, msgspec.to_builtins(event), self_={"boss": boss})


def event_key(event: Any, audience: Any) -> Hashable:
    return None if isinstance(event, Waved | WasRead) else audience


def ledger_kind(rows: Rows, *, version: int = 1) -> Kind[Ledger, Any]:
    """The kind over the given rows."""
    return Kind(
        name="ledger",
        version=version,
        events=Events,
        load=rows.load,
        dump=msgspec.msgpack.encode,
        restore=msgspec.msgpack.Decoder(Ledger).decode,
        decide=decide,
        apply=apply,
        answer=answer,
        persist=rows.persist,
        summary=lambda state: str(state.total).encode(),
        rendering=Rendering(audience=audience, render=frame, render_event=delta, event_key=event_key),
        lookups=Lookups(
            missing=missing,
            fetch=rows.fetch,
            absorb=absorb,
            forget=lambda state: msgspec.structs.replace(state, recalled=None),
        ),
        deadlines=Deadlines(due=lambda state: state.alarm_ms, expire=lambda state, now_ms: Ring(now_ms)),
        followers=Followers(
            touches=lambda state, event: (
                [(PURSES, {state.recent[-1].by})] if isinstance(event, Changed) else []
            )
        ),
        unjournaled=Unjournaled(refresh=rows.refresh),
        crossing={Deposit: int, Withdraw: int, Promote: int, Kick: int, Read: int, Wave: int, Rename: int},
    )


class MemoryRows:
    """Ledgers as rows of a `Simulation`, whose connection is the simulation itself."""

    async def load(self, conn: Any, id: str) -> Ledger | None:
        state = conn.rows.get(("ledger", id))
        if state is None:
            return None
        kept = conn.rows["entries", id]
        return msgspec.structs.replace(state, recent=tuple(kept[-RECENT:]), recalled=None)

    async def persist(self, conn: Any, turns: Sequence[Turn]) -> None:
        for turn in turns:
            if any(isinstance(event, Changed) and event.amount == 13 for event in turn.events):
                raise RowsRejected("thirteen")
            if any(isinstance(event, Exploded) and event.where == "persist" for event in turn.events):
                raise RowsRejected("exploded")
            for event in turn.events:
                conn.rows["ledger", turn.id] = apply(conn.rows["ledger", turn.id], event)
                if isinstance(event, Changed):
                    conn.rows["entries", turn.id].append(Entry(event.by, event.amount))

    async def fetch(self, conn: Any, id: str, missing: Any) -> Any:
        return conn.rows["entries", id][missing]

    async def refresh(self, conn: Any, id: str, state: Ledger) -> Ledger:
        rows = conn.rows["ledger", id]
        return msgspec.structs.replace(state, reads=rows.reads, name=rows.name)

    def rename(self, simulation: Any, id: str, name: str) -> None:
        """A ledger has another name, as another domain would give it one."""
        simulation.rows["ledger", id] = msgspec.structs.replace(simulation.rows["ledger", id], name=name)

    async def create(self, simulation: Any, id: str) -> None:
        """A new ledger, as its domain would make it."""
        simulation.rows["ledger", id] = Ledger()
        simulation.rows["entries", id] = []
        await simulation.create_head(
            simulation, "ledger", id, epoch=f"e-{id}", summary=b"0", due_at_ms=None, at_ms=0
        )


ROWS = MemoryRows()
KIND = ledger_kind(ROWS)


def slow_kind(clock: MockClock, seconds: float) -> Kind[Ledger, Any]:
    """`KIND`, each of whose commands takes so long to decide, also one that is refused."""

    def slowly(state: Ledger, command: Any, now_ms: int) -> Sequence[Event]:
        clock.jump(seconds)
        return decide(state, command, now_ms)

    return replace(KIND, decide=slowly)
