"""Reactions of memory and live views to new parties, and the reconciliation of a party after an unknown outcome."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.errors import NotFound
from actors.notifications.view import NotificationsChanged
from actors.party.commands import MeetDeadlines
from actors.party.state import State
from actors.party.units import PartyMade
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
    members = () if known is None else tuple(known.members)
    concerned = {*memberships.members(party_id), *members, *(known.invites if known is not None else ())}
    memberships.reconcile(party_id, members)
    for user_id in concerned:
        service.system.changed(service.of(PARTY_KINDS).own, user_id, party_id)
    return tuple(map(NotificationsChanged, concerned))


REACTIONS = (Reaction(PartyMade, _found),)

RECONCILIATIONS = (Reconciliation(PartyInDoubt, _ask),)
