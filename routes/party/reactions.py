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
"""Reads them of a party, by its id; none of a party that is not there. Raises PersistenceError."""


class PartyInDoubt(NamedTuple):
    """Reconciliation subject: the members and invites of one party."""

    party_id: str


class InvitesBetween(NamedTuple):
    """Reconciliation subject: the invites between two users one of whom blocks the other; ids in ascending order."""

    one_id: str
    other_id: str


class Concerned(NamedTuple):
    """Members and invited users before the turn: whom it may have taken out, too."""

    user_ids: tuple[str, ...]


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a party for reconciliation after one of its turns ended with an unknown outcome."""
    follow_parties_in_doubt(
        service.system, service.of(PARTY_KINDS), service.of(MEMBERSHIPS), service.reconciler
    )


def follow_parties_in_doubt(
    system: System, parties: PartyKinds, memberships: Memberships, reconciler: Reconciler
) -> None:
    """The same, for those who have no service.

    Args:
        system: where the parties live.
        parties: their kinds.
        memberships: who is in which party.
        reconciler: calls `show_again` with what is queued here.
    """

    def doubt(party_id: str) -> None:
        known: State | None = system.peek(parties.party, party_id)
        before = () if known is None else (*known.members, *known.invites)
        reconciler.add(PartyInDoubt(party_id), (Concerned(before),))

    memberships.on_outcome_unknown(doubt)


async def _made(service: Service, event: PartyMade) -> None:
    parties, memberships = service.of(PARTY_KINDS), service.of(MEMBERSHIPS)
    await take_in(service.system, parties, memberships, event, _asking(service))


async def take_in(
    system: System, parties: PartyKinds, memberships: Memberships, event: PartyMade, in_rows: InRows
) -> None:
    """Have memory know of a user's party: at once where it is new; else as it is by now, which its owner knows.

    Args:
        system, parties, memberships, in_rows: as for `show_again`.
        event: what the unit of work has found or made.

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
    """Have memory and the views of all concerned, now or before, show the party as it is; returns who they are.

    Args:
        system: where the parties live.
        parties: their kinds.
        memberships: who is in which party.
        about: the party.
        events: a `Concerned` for each turn in doubt; what else is among them says nothing here.
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
    before = [user_id for event in events if isinstance(event, Concerned) for user_id in event.user_ids]
    concerned = dict.fromkeys((*before, *memberships.members(party_id), *members, *invited))
    memberships.reconcile(party_id, members)
    # Who was invited before is known where the party lived alone.
    system.touched_everywhere(parties.own.name, tuple(concerned), party_id)
    return concerned


async def _ask(service: Service, about: PartyInDoubt, events: Sequence[object]) -> tuple[object, ...]:
    parties, memberships = service.of(PARTY_KINDS), service.of(MEMBERSHIPS)
    concerned = await show_again(
        service.system, parties, memberships, about, events, in_rows=_asking(service)
    )
    # The memory of other nodes hears of a party that was made after all; of turns its owner tells them.
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
    """The members of a party, and who is invited."""
    members, invites = await rows.members_of(conn, party_id), await rows.invites_of(conn, party_id)
    return tuple(one.user_id for one in members), tuple(one.target_id for one in invites)


def _friends_now(service: Service, event: RelationChanged) -> None:
    """Have the day of two who share a party count."""
    if event.between.friends:
        service.of(DAYS_TOGETHER).befriended(event.one_id, event.other_id)


async def _relation_changed(service: Service, event: RelationChanged) -> None:
    """Have invites between the two taken back after a block. If that fails, it is queued for the reconciling job."""
    if not event.between.blockers:
        return
    about = InvitesBetween(min(event.one_id, event.other_id), max(event.one_id, event.other_id))
    try:
        await take_back(service, about)
    except (PersistenceError, Refused, Fault):
        service.reconciler.add(about)


async def take_back(service: Service, between: InvitesBetween) -> None:
    """Have the invites between two users taken back, party by party, where a block stands between them by then; safe to
    repeat.

    Raises:
        PersistenceError: the rows cannot be read, or a party's turn failed.
        Refused, Fault: a party refused, or failed; all others were asked.

    Cancellation may leave some of the parties unasked.
    """
    kind, memberships = service.of(PARTY_KINDS).party, service.of(MEMBERSHIPS)
    found: list[str | None] = [*await service.database.read(rows.inviting_between, *between)]
    # Their own parties may be about to store an invite that the rows do not show yet.
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
