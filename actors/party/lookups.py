"""The rows that one command needs beside the state: which they are, how they are read, and when they are stale."""

from msgspec.structs import replace

from actors.kernel.facets import Lookups
from actors.party.commands import AcceptInvite, AnyCommand, SendInvite, TellBlock
from actors.party.events import AnyEvent, MemberJoined, MembersLeft
from actors.party.state import LookedUp, State, invites_between
from persistence.connection import Connection
from persistence.friends import blocks
from persistence.party import rows
from persistence.users.names import read_names


def missing(state: State, command: AnyCommand) -> tuple[str, str] | None:
    """What a command needs from rows: (the user to look up, the user whom no block may part from them), or None."""
    match command:
        case SendInvite():
            return command.target_id, command.actor_id
        case AcceptInvite() if command.actor_id in state.invites:
            return command.actor_id, state.invites[command.actor_id].sender_id
        case TellBlock() if invites_between(state, command.one_id, command.other_id):
            return command.one_id, command.other_id
        case _:
            return None


async def fetch(conn: Connection, _party_id: str, missing: tuple[str, str]) -> LookedUp:
    """Read the rows that `missing` named: name, party and blocks of a user. Cancellation ends the reads."""
    user_id, other_id = missing
    names = await read_names(conn, (user_id,))
    barred = await blocks.barred_among(conn, user_id, (other_id,))
    return LookedUp(user_id, names.get(user_id), bool(barred), await rows.party_of(conn, user_id))


def overlaps(event: AnyEvent, missing: tuple[str, str]) -> bool:
    """Whether an event changes what `fetch` reads: which party the user is in. Names and blocks have other writers."""
    match event:
        case MemberJoined(member=member):
            return member.user_id == missing[0]
        case MembersLeft(user_ids=gone):
            return missing[0] in gone
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
