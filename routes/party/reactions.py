"""Reactions of memory and live views to new parties, and the reconciliation of a party after an unknown outcome."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

from actors.errors import NotFound
from actors.kernel.directory import System
from actors.notifications.view import NotificationsChanged
from actors.party.commands import MeetDeadlines
from actors.party.kind import PartyKinds
from actors.party.memberships import Memberships
from actors.party.state import State
from actors.party.units import PartyMade
from persistence.connection import Connection
from persistence.party import rows
from routes.changes import Reaction, Reconciliation
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.service import Service

MembersAndInvited: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The members of a party, and who is invited."""

InRows: TypeAlias = Callable[[str], Awaitable[MembersAndInvited]]
"""Reads them of a party, by its id; none of a party that is not there. Raises PersistenceError."""


class PartyInDoubt(NamedTuple):
    """Reconciliation subject: the members and invites of one party."""

    party_id: str


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a party for reconciliation after one of its turns ended with an unknown outcome."""
    service.of(MEMBERSHIPS).on_outcome_unknown(
        lambda party_id: service.reconciler.add(PartyInDoubt(party_id))
    )


async def _made(service: Service, event: PartyMade) -> None:
    read = partial(service.database.read, _in_rows)
    await take_in(service.system, service.of(PARTY_KINDS), service.of(MEMBERSHIPS), event, read)


async def take_in(
    system: System, parties: PartyKinds, memberships: Memberships, event: PartyMade, in_rows: InRows
) -> None:
    """Have memory know of a user's party: at once where it is new; else as it is by now, which its owner knows.

    Args: as for `show_again`.
        event: what the unit of work has found or made.

    Raises: as `show_again`. Cancellation may leave memory as it was.
    """
    if event.is_new:
        memberships.joined(event.user_id, event.party_id)
        system.changed(parties.own, event.user_id, event.party_id)
    else:
        await show_again(system, parties, memberships, PartyInDoubt(event.party_id), in_rows)


async def show_again(
    system: System, parties: PartyKinds, memberships: Memberships, about: PartyInDoubt, in_rows: InRows
) -> Collection[str]:
    """Have memory and the views of all concerned show the party as it is; returns who they are.

    Args:
        system: where the parties live.
        parties: their kinds.
        memberships: who is in which party.
        about: the party.
        in_rows: reads it where it does not live here.

    Raises: Refused, or a PersistenceError, where neither the party nor its rows can be asked; then nothing is shown. A
        party that is gone raises nothing. Cancellation shows nothing.
    """
    party_id = about.party_id
    try:
        await system.ask(parties.party, party_id, MeetDeadlines())
    except NotFound:
        known: State | None = None
    else:
        known = system.peek(parties.party, party_id)
    if known is None:  # there is none, or it lives on another node
        members, invited = await in_rows(party_id)
    else:
        members, invited = tuple(known.members), tuple(known.invites)
    concerned = {*memberships.members(party_id), *members, *invited}
    memberships.reconcile(party_id, members)
    for user_id in concerned:
        system.changed(parties.own, user_id, party_id)
    return concerned


async def _ask(service: Service, about: PartyInDoubt, events: Sequence[object]) -> tuple[object, ...]:
    read = partial(service.database.read, _in_rows)
    parties, memberships = service.of(PARTY_KINDS), service.of(MEMBERSHIPS)
    concerned = await show_again(service.system, parties, memberships, about, read)
    # The memory of other nodes hears of a party that was made after all; of turns its owner tells them.
    made = [
        event
        for event in events
        if isinstance(event, PartyMade) and memberships.of(event.user_id) == event.party_id
    ]
    return (*made, *map(NotificationsChanged, concerned))


async def _in_rows(conn: Connection, party_id: str) -> MembersAndInvited:
    """The members of a party, and who is invited."""
    members, invites = await rows.members_of(conn, party_id), await rows.invites_of(conn, party_id)
    return tuple(one.user_id for one in members), tuple(one.target_id for one in invites)


REACTIONS = (Reaction(PartyMade, _made),)

RECONCILIATIONS = (Reconciliation(PartyInDoubt, _ask),)
