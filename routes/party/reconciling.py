"""Parties that are asked who is in them, after a turn of which nobody knows whether it was committed."""

from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING

from actors.errors import NotFound
from actors.party.commands import MeetDeadlines
from actors.party.state import State
from routes.reconciler import Reconcile

if TYPE_CHECKING:
    from routes.service import Service


def follow_unknown_outcomes(service: "Service") -> None:
    """Ask, from now on, whenever there is a doubt."""

    service.memberships.on_outcome_unknown(
        lambda party_id: service.reconciler.add(*_question(service, party_id))
    )


def reconcile_if_unknown(service: "Service", party_id: str) -> AbstractContextManager[None]:
    """Around a transaction about a party: where its outcome stays unknown, the party is asked."""
    return service.reconciler.reconcile_if_unknown(*_question(service, party_id))


def _question(service: "Service", party_id: str) -> tuple[str, Reconcile]:
    return f"party {party_id}", partial(_settle, service, party_id)


async def _settle(service: "Service", party_id: str) -> None:
    """Tell memory and live views who is in the party, and who is invited."""
    kind, memberships = service.parties.party, service.memberships
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
        service.system.changed(service.parties.own, user_id, party_id)
        service.system.changed(service.notifications, user_id, "notifications")
