"""Reactions of memory and live views to new parties, and the reconciliation of a party after an unknown outcome."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.errors import NotFound
from actors.notifications.view import NotificationsChanged
from actors.party.commands import MeetDeadlines
from actors.party.state import State
from actors.party.units import PartyMade
from persistence.connection import Connection
from persistence.party import rows
from routes.changes import Reaction, Reconciliation
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.service import Service


class PartyInDoubt(NamedTuple):
    """Reconciliation subject: the members and invites of one party."""

    party_id: str


def follow_unknown_outcomes(service: Service) -> None:
    """Subscribe: queue a party for reconciliation after one of its turns ended with an unknown outcome."""
    service.of(MEMBERSHIPS).on_outcome_unknown(
        lambda party_id: service.reconciler.add(PartyInDoubt(party_id))
    )


def _found(service: Service, event: PartyMade) -> None:
    service.of(MEMBERSHIPS).joined(event.user_id, event.party_id)
    service.system.changed(service.of(PARTY_KINDS).own, event.user_id, event.party_id)


async def _ask(
    service: Service, about: PartyInDoubt, _events: Sequence[object]
) -> tuple[NotificationsChanged, ...]:
    kind, memberships, party_id = service.of(PARTY_KINDS).party, service.of(MEMBERSHIPS), about.party_id
    try:
        await service.system.ask(kind, party_id, MeetDeadlines())
    except NotFound:
        known: State | None = None
    else:
        known = service.system.peek(kind, party_id)
    if known is None:  # there is none, or it lives on another node
        members, invited = await service.database.read(_in_rows, party_id)
    else:
        members, invited = tuple(known.members), tuple(known.invites)
    concerned = {*memberships.members(party_id), *members, *invited}
    memberships.reconcile(party_id, members)
    for user_id in concerned:
        service.system.changed(service.of(PARTY_KINDS).own, user_id, party_id)
    return tuple(map(NotificationsChanged, concerned))


async def _in_rows(conn: Connection, party_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members of a party, and who is invited."""
    members, invites = await rows.members_of(conn, party_id), await rows.invites_of(conn, party_id)
    return tuple(one.user_id for one in members), tuple(one.target_id for one in invites)


REACTIONS = (Reaction(PartyMade, _found),)

RECONCILIATIONS = (Reconciliation(PartyInDoubt, _ask),)
