"""Removes the DNS records that an erased user's networks have at their providers."""

from actors.ids import UserId
from actors.networks.units_networks import MAX_NETWORKS
from persistence.networks import networks
from routes.networks.name_service import NAME_SERVICE
from routes.service import Service


async def let_go(service: Service, user_id: UserId) -> None:
    """Have the DNS records of the user's game servers removed now, since the provider tokens for that are deleted with
    the networks.

    Raises:
        PersistenceError: the database failed; call it again.
    """
    owned = await service.database.read(networks.of_owner, user_id, MAX_NETWORKS)
    await service.of(NAME_SERVICE).automation.push_last([network.network_id for network in owned])
