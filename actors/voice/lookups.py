"""The rows that a join needs beside the state: which they are, how they are read, and when they are stale."""

from msgspec.structs import replace

from actors.kernel.facets import Lookups
from actors.voice.commands import AnyCommand, Join
from actors.voice.events import AnyEvent, Joined, SessionsEnded
from actors.voice.state import LookedUp, State
from persistence.connection import Connection
from persistence.friends import blocks
from persistence.users.names import read_names
from persistence.voice import channels


def missing(state: State, command: AnyCommand) -> tuple[str, str | None] | None:
    """What a command needs from rows: (the user to look up, whom no block may part from them, if anyone), or None."""
    return (command.user_id, state.other_of(command.user_id)) if isinstance(command, Join) else None


async def fetch(conn: Connection, _channel_id: str, missing: tuple[str, str | None]) -> LookedUp:
    """Read the rows that `missing` named: name, session and blocks of a user. Cancellation ends the reads."""
    user_id, other_id = missing
    names = await read_names(conn, (user_id,))
    barred = other_id is not None and bool(await blocks.barred_among(conn, user_id, (other_id,)))
    return LookedUp(user_id, names.get(user_id), barred, await channels.session_of(conn, user_id))


def overlaps(event: AnyEvent, missing: tuple[str, str | None]) -> bool:
    """Whether an event changes what `fetch` reads: the user's session."""
    match event:
        case Joined(session=session):
            return session.user_id == missing[0]
        case SessionsEnded(sessions=sessions):
            return missing[0] in sessions
        case _:
            return False


def absorb(state: State, found: LookedUp) -> State:
    """The state with the rows of `fetch`, for the command being decided."""
    return replace(state, looked_up=found)


def forget(state: State) -> State:
    """The state without the rows that `absorb` has added."""
    return state if state.looked_up is None else replace(state, looked_up=None)


LOOKUPS: Lookups[State, AnyCommand] = Lookups(
    missing=missing, fetch=fetch, absorb=absorb, forget=forget, overlaps=overlaps
)
"""The lookups of the kind."""
