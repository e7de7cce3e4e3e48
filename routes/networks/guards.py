"""The guard of networks."""

from actors.errors import NotFound
from actors.ids import Uuid
from persistence.networks import networks
from persistence.networks.rows import NetworkRow
from routes.call import Call


async def owner_of_network(call: Call, network_id: Uuid) -> NetworkRow:
    """Guard: requires that the caller owns the network; owners never change, so it holds in the transaction too.

    Raises:
        NotFound: there is no such network, or it is another user's: both are answered alike.
    """
    row = await call.service.database.read(networks.read, network_id)
    if row is None or row.owner_id != call.user_id:
        raise NotFound
    return row
