"""The game server as an owner: the record that the kernel runs."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from actors.connect import commands, events, rows
from actors.connect.commands import AnyCommand
from actors.connect.events import AnyEvent
from actors.connect.public import Server, server_of
from actors.connect.rules import apply, decide, due
from actors.connect.state import State
from actors.errors import NotFound
from actors.kernel.kind import Delta, Event, Kind, View
from persistence.connect.rows import SessionRow
from persistence.connect.servers import KIND
from persistence.connection import Connection


def server_kind(happened: Callable[[State, AnyEvent], None]) -> Kind[State, AnyCommand]:
    """The record of the kind.

    Args:
        happened: told of every event once it is committed: what credentials and players are remembered by.
    """
    return Kind(
        name=KIND,
        version=rows.VERSION,
        events=AnyEvent,
        load=rows.load,
        refresh=rows.refresh,
        dump=rows.dump,
        restore=rows.restore,
        missing=_nothing_missing,
        fetch=_fetch,
        absorb=_absorb,
        decide=decide,
        apply=apply,
        answer=answer,
        persist=rows.persist,
        due=due,
        expire=_expire,
        summary=_summary,
        audience=_audience,
        frame=_frame,
        delta=_delta,
        touches=_touches,
        happened=happened,
    )


def answer(state: State, command: AnyCommand, happened: Sequence[Event]) -> Server | SessionRow | int | None:
    """What the caller is told: the server, the session, or when what was made ends."""
    for event in happened:
        match event:
            case events.ClaimKeyIssued():
                return event.expires_at_ms
            case events.TicketIssued():
                return event.ticket.expires_at_ms
            case events.SessionStarted():
                return event.session
    match command:
        case commands.Claim() | commands.ChangeServer():
            return server_of(state.row)
        case commands.RotateSecret():
            return state.row.former_until_ms
        case _:
            return None


def _nothing_missing(_state: State, _command: AnyCommand) -> None:
    return None


async def _fetch(_conn: Connection, _id: str, _missing: Any) -> None:
    return None


def _absorb(state: State, _found: Any) -> State:
    return state


def _expire(_state: State, _now_ms: int) -> AnyCommand:
    return commands.EndExpired()


def _summary(_state: State) -> bytes:
    return b""


def _audience(state: State, viewer: Any) -> str:
    if state.removed or state.row.owner_id != viewer.user_id:
        raise NotFound
    return "owner"


def _frame(state: State, _viewers: str) -> Server:
    return server_of(state.row)


def _delta(_state: State, _event: AnyEvent, _viewers: str) -> Delta | None:
    return None


def _touches(_state: State, _event: AnyEvent) -> Sequence[tuple[View[Any], Collection[str]]]:
    return ()
