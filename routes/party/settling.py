"""Parties that are asked who is in them, after a turn of which nobody knows whether it was committed."""

from typing import TYPE_CHECKING

from actors.errors import NotFound, Refused
from actors.party.commands import MeetDeadlines
from actors.party.state import State

if TYPE_CHECKING:
    from routes.service import Service


async def settle_parties(service: "Service") -> None:
    """Tell memory and live views who is in the parties that are in doubt, and who is invited.

    Raises:
        PersistenceError: the rows cannot be asked; what was not settled stays in doubt.
    """
    for party_id in service.memberships.doubtful():
        await _settle(service, party_id)


async def _settle(service: "Service", party_id: str) -> None:
    kind, memberships = service.parties.party, service.memberships
    try:
        await service.system.ask(kind, party_id, MeetDeadlines())
    except NotFound:
        known: State | None = None
    except Refused:  # it is not to be had now
        return
    else:
        known = service.system.peek(kind, party_id)
    members = () if known is None else tuple(known.members)
    concerned = {*memberships.members(party_id), *members, *(known.invites if known is not None else ())}
    memberships.settle(party_id, members)
    for user_id in concerned:
        service.system.changed(service.parties.own, user_id, party_id)
        service.system.changed(service.notifications, user_id, "notifications")
