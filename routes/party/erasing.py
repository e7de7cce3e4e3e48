"""What becomes of an erased user in parties."""

from typing import TYPE_CHECKING

from actors.errors import Conflict, NotFound
from actors.ids import UserId
from actors.party.commands import Leave, TellErased
from actors.party.forgetting import forget_in_parties
from routes.asking import ask_if_there

if TYPE_CHECKING:
    from routes.service import Service


async def let_go(service: "Service", user_id: UserId) -> None:
    """They leave their party."""
    party_id = service.memberships.of(user_id)
    if party_id is not None:
        command = Leave(user_id)
        await ask_if_there(service, service.parties.party, party_id, command, too_late=(NotFound, Conflict))


async def forget_user(service: "Service", user_id: UserId) -> None:
    """Nothing that is kept of parties calls them by their name."""

    async def tell(party_id: str) -> None:
        await ask_if_there(service, service.parties.party, party_id, TellErased(user_id))

    await forget_in_parties(service.database, user_id, tell)
