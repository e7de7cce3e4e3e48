"""Whether a network is the caller's."""

from actors.errors import NotFound
from actors.ids import Uuid
from persistence.networks import networks
from persistence.networks.rows import NetworkRow
from routes.call import Call


async def owner_of_network(call: Call, network_id: Uuid) -> NetworkRow:
    """Guard: passes the network's owner. A network never changes hands, so this holds for the transaction too.

    Raises:
        NotFound: there is no such network, or it is somebody else's: both look the same.
    """
    row = await call.service.database.read(networks.read, network_id)
    if row is None or row.owner_id != call.user_id:
        raise NotFound
    return row
