"""Removes a user who is erased from parties, and their name from what is kept of parties."""

from actors.errors import Conflict, NotFound
from actors.ids import UserId
from actors.party.commands import Leave, TellErased
from actors.party.forgetting import forget_in_parties
from routes.asking import AskedUntilFailed, ask_if_there
from routes.party.memberships import MEMBERSHIPS
from routes.party.parts import PARTY_KINDS
from routes.service import Service


async def let_go(service: Service, user_id: UserId) -> None:
    """Let the user leave their party; safe to repeat.

    Raises:
        PersistenceError: the database failed; call it again.
        Refused: the party refused; call it again.
    """
    party_id = service.of(MEMBERSHIPS).of(user_id)
    if party_id is not None:
        command = Leave(user_id)
        await ask_if_there(
            service, service.of(PARTY_KINDS).party, party_id, command, too_late=(NotFound, Conflict)
        )


async def forget_user(service: Service, user_id: UserId) -> None:
    """Replace the user's name in live parties, rows and journal; safe to repeat. If one party fails, for example since
    it cannot be loaded, the others are told all the same.

    Raises:
        PersistenceError: the database failed; call it again.
        Fault: a party could not be told; call it again.
    """
    parties = AskedUntilFailed(service, service.of(PARTY_KINDS).party)

    async def tell(party_id: str) -> None:
        await parties.ask(party_id, TellErased(user_id))

    await forget_in_parties(service.database, user_id, tell)
    parties.check()
