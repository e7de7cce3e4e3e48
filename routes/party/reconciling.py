"""Parties that are asked who is in them, after a turn of which nobody knows whether it was committed."""

from contextlib import AbstractContextManager
from functools import partial

from actors.errors import NotFound
from actors.notifications import NOTIFICATIONS
from actors.party.commands import MeetDeadlines
from actors.party.state import State
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.reconciler import Reconcile
from routes.service import Service


def follow_unknown_outcomes(service: Service) -> None:
    """Ask, from now on, whenever there is a doubt."""

    service.of(MEMBERSHIPS).on_outcome_unknown(
        lambda party_id: service.reconciler.add(*_question(service, party_id))
    )


def reconcile_if_unknown(service: Service, party_id: str) -> AbstractContextManager[None]:
    """Around a transaction about a party: where its outcome stays unknown, the party is asked."""
    return service.reconciler.reconcile_if_unknown(*_question(service, party_id))


def _question(service: Service, party_id: str) -> tuple[str, Reconcile]:
    return f"party {party_id}", partial(_settle, service, party_id)


async def _settle(service: Service, party_id: str) -> None:
    """Tell memory and live views who is in the party, and who is invited."""
    kind, memberships = service.of(PARTY_KINDS).party, service.of(MEMBERSHIPS)
    try:
        await service.system.ask(kind, party_id, MeetDeadlines())
    except NotFound:
        known: State | None = None
    else:
        known = service.system.peek(kind, party_id)
    members = () if known is None else tuple(known.members)
    concerned = {*memberships.members(party_id), *members, *(known.invites if known is not None else ())}
    memberships.settle(party_id, members)
    for user_id in concerned:
        service.system.changed(service.of(PARTY_KINDS).own, user_id, party_id)
        service.system.changed(NOTIFICATIONS, user_id, "notifications")
