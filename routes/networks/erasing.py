"""Removes the DNS records that an erased user's networks have at their providers."""

from actors.ids import UserId
from actors.networks import units_removal
from actors.networks.units_networks import MAX_NETWORKS
from actors.networks.units_removal import LeftRecords
from persistence.connection import Connection
from persistence.networks import networks
from routes.networks.name_service import NAME_SERVICE
from routes.service import Service


async def let_go(service: Service, user_id: UserId) -> None:
    """Have the DNS records of the user's networks, and of their game servers, removed now, since the provider tokens
    for that are deleted with the networks.

    Raises:
        PersistenceError: the database failed; call it again.
    """
    left = await service.database.read(_left_by, user_id)
    await service.of(NAME_SERVICE).automation.remove_last(left)


async def _left_by(conn: Connection, user_id: str) -> list[LeftRecords]:
    owned = await networks.of_owner(conn, user_id, MAX_NETWORKS)
    return await units_removal.left_records(conn, [network.network_id for network in owned])
