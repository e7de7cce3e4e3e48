"""Removes what the networks of a user who is erased have at their DNS providers."""

from actors.ids import UserId
from actors.networks.units_networks import MAX_NETWORKS
from persistence.networks import networks
from routes.networks.name_service import NAME_SERVICE
from routes.service import Service


async def let_go(service: Service, user_id: UserId) -> None:
    """Have the records removed that the user's game servers had: with the networks go the tokens that can do so.

    Raises:
        PersistenceError: the database failed; call it again.
    """
    owned = await service.database.read(networks.of_owner, user_id, MAX_NETWORKS)
    await service.of(NAME_SERVICE).automation.push_last([network.network_id for network in owned])
