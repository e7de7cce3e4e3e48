"""Reactions of memory, views, days and invites to new parties and relations; and what is reconciled with the rows."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import NamedTuple, TypeAlias

from actors.errors import NotFound, Refused
from actors.friends.events import RelationChanged
from actors.kernel.directory import System
from actors.kernel.supervisor import Fault
from actors.notifications.view import NotificationsChanged
from actors.party.commands import MeetDeadlines, TellBlock
from actors.party.kind import PartyKinds
from actors.party.memberships import Memberships
from actors.party.state import State
from actors.party.units import PartyMade
from persistence.connection import Connection
from persistence.errors import PersistenceError
from persistence.party import rows
from routes.asking import ask_all_there
from routes.changes import Reaction, Reconciliation
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import DAYS_TOGETHER, PARTY_KINDS
from routes.reconciler import Reconciler
from routes.service import Service

MembersAndInvited: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]
"""The members of a party, and who is invited."""

InRows: TypeAlias = Callable[[str], Awaitable[MembersAndInvited]]
"""Reads these from the rows of a party, by its id; empty if there is no such party. Raises PersistenceError."""


class PartyInDoubt(NamedTuple):
    """Reconciliation subject: the members and invites of one party."""

    party_id: str


class InvitesBetween(NamedTuple):
    """Reconciliation subject: invites between two users of whom one blocks the other; ids in ascending order."""

    one_id: str
    other_id: str


class Concerned(NamedTuple):
    """Members and invited users before the turn, including those whom it may have removed."""

    user_ids: tuple[str, ...]


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a party for reconciliation after one of its turns ended with an unknown outcome."""
    follow_parties_in_doubt(
        service.system, service.of(PARTY_KINDS), service.of(MEMBERSHIPS), service.reconciler
    )


def follow_parties_in_doubt(
    system: System, parties: PartyKinds, memberships: Memberships, reconciler: Reconciler
) -> None:
    """Do what `follow_unknown_outcomes` does, for callers that have the parts but no service.

    Args:
        system: the actor system in which parties live.
        parties: the kinds of actor of parties and of the views of a user's own party.
        memberships: the party of each user, as this node's memory has it.
        reconciler: calls `show_again` with what is queued here.
    """

    def doubt(party_id: str) -> None:
        known = system.peek(parties.party, party_id)
        before = () if known is None else (*known.members, *known.invites)
        reconciler.add(PartyInDoubt(party_id), (Concerned(before),))

    memberships.on_outcome_unknown(doubt)


async def _made(service: Service, event: PartyMade) -> None:
    parties, memberships = service.of(PARTY_KINDS), service.of(MEMBERSHIPS)
    await take_in(service.system, parties, memberships, event, _asking(service))


async def take_in(
    system: System, parties: PartyKinds, memberships: Memberships, event: PartyMade, in_rows: InRows
) -> None:
    """Tell memory of a user's party: at once if the party is new; else ask its owner how it is by now.

    Args:
        system, parties, memberships, in_rows: as for `show_again`.
        event: the party that the unit of work has found or made.

    Raises: as `show_again`. Cancellation may leave memory as it was.
    """
    if event.is_new:
        memberships.joined(event.user_id, event.party_id)
        system.changed(parties.own, event.user_id, event.party_id)
    else:
        await show_again(system, parties, memberships, PartyInDoubt(event.party_id), (), in_rows=in_rows)


async def show_again(
    system: System,
    parties: PartyKinds,
    memberships: Memberships,
    about: PartyInDoubt,
    events: Sequence[object],
    *,
    in_rows: InRows,
) -> Collection[str]:
    """Have memory, and the views of all who are or were concerned, show the party as it is; returns their ids.

    Args:
        system: the actor system in which parties live.
        parties: the kinds of actor of parties and of the views of a user's own party.
        memberships: the party of each user, as this node's memory has it.
        about: names the party.
        events: a `Concerned` for each turn in doubt; others are ignored.
        in_rows: reads the party's members and invites from the database if it does not live on this node.

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
    before = [user_id for event in events if isinstance(event, Concerned) for user_id in event.user_ids]
    concerned = dict.fromkeys((*before, *memberships.members(party_id), *members, *invited))
    memberships.reconcile(party_id, members)
    # Who was invited before is known only on the node where the party lived.
    system.touched_everywhere(parties.own.name, tuple(concerned), party_id)
    return concerned


async def _ask(service: Service, about: PartyInDoubt, events: Sequence[object]) -> tuple[object, ...]:
    parties, memberships = service.of(PARTY_KINDS), service.of(MEMBERSHIPS)
    concerned = await show_again(
        service.system, parties, memberships, about, events, in_rows=_asking(service)
    )
    # Other nodes must hear that the party was made after all; its later turns are told by its owner.
    made = [
        event
        for event in events
        if isinstance(event, PartyMade) and memberships.of(event.user_id) == event.party_id
    ]
    return (*made, *map(NotificationsChanged, concerned))


def _asking(service: Service) -> InRows:
    async def ask(party_id: str) -> MembersAndInvited:
        return await service.database.read(_in_rows, party_id)

    return ask


async def _in_rows(conn: Connection, party_id: str) -> MembersAndInvited:
    """The members of a party, and who is invited, from its rows."""
    members, invites = await rows.members_of(conn, party_id), await rows.invites_of(conn, party_id)
    return tuple(one.user_id for one in members), tuple(one.target_id for one in invites)


def _friends_now(service: Service, event: RelationChanged) -> None:
    """Count the present day for two new friends who share a party."""
    if event.between.friends:
        service.of(DAYS_TOGETHER).befriended(event.one_id, event.other_id)


async def _relation_changed(service: Service, event: RelationChanged) -> None:
    """After a block, take back invites between the two. If that fails, it is queued for the reconciling job."""
    if not event.between.blockers:
        return
    about = _invites_between(event.one_id, event.other_id)
    try:
        await take_back(service, about)
    except (PersistenceError, Refused, Fault):
        service.reconciler.add(about)


async def take_back_between(service: Service, one_id: str, other_id: str) -> None:
    """Take back the invites between two users, in whichever order; otherwise as `take_back`, which raises and is
    cancelled in the same way."""
    await take_back(service, _invites_between(one_id, other_id))


def _invites_between(one_id: str, other_id: str) -> InvitesBetween:
    return InvitesBetween(min(one_id, other_id), max(one_id, other_id))


async def take_back(service: Service, between: InvitesBetween) -> None:
    """Take back the invites between two users, party by party, if there is still a block between them; safe to repeat.

    Raises:
        PersistenceError: the rows cannot be read, or a party's turn failed.
        Refused, Fault: a party refused, or failed; all others were asked.

    Cancellation may leave some of the parties unasked.
    """
    kind, memberships = service.of(PARTY_KINDS).party, service.of(MEMBERSHIPS)
    found: list[str | None] = [*await service.database.read(rows.inviting_between, *between)]
    # The users' own parties too, since one may be about to store an invite that the rows do not show yet.
    party_ids = dict.fromkeys((*found, *map(memberships.of, between)))
    try:
        await ask_all_there(service, kind, [(id, TellBlock(*between)) for id in party_ids if id is not None])
    finally:
        await service.heard()


async def _ask_between(
    service: Service, about: InvitesBetween, _events: Sequence[object]
) -> tuple[object, ...]:
    await take_back(service, about)
    return ()


REACTIONS = (
    Reaction(PartyMade, _made),
    Reaction(RelationChanged, _friends_now, once=True),
    Reaction(RelationChanged, _relation_changed, once=True),
)

RECONCILIATIONS = (Reconciliation(PartyInDoubt, _ask), Reconciliation(InvitesBetween, _ask_between))
