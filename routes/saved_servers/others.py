"""The saved public servers of other users, if they show them (service-api §5 rule 7)."""

from actors.errors import NotFound, VisibilityDenied
from actors.ids import UserId
from actors.saved_servers.visibility import SEE_ALL, read_list
from persistence.saved_servers.rows import Saved
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.saved_servers.entries import SavedServers, list_of

_OF_USER = "/v1/users/{id}/public-servers"


@endpoint("GET", _OF_USER + "/saved", needs=AUTHENTICATED, refusals=(NotFound, VisibilityDenied))
async def list_saved_servers_of_user(call: Call, id: UserId) -> SavedServers:
    """A user's saved servers, in their order.

    For the user themselves, for holders of `social:servers.read.others` or `admin:user:view`, and for users to whom
    they show the list (`privacy.serverListVisibility`). Others are refused, whether there is such a user or not.
    """
    return list_of(await _read(call, id))


@endpoint("GET", _OF_USER + "/favorites", needs=AUTHENTICATED, refusals=(NotFound, VisibilityDenied))
async def list_favorite_servers_of_user(call: Call, id: UserId) -> SavedServers:
    """The favourites among a user's saved servers.

    For the same callers as `…/saved`; `counts` are those of the whole list.
    """
    return list_of(await _read(call, id), favorites_only=True)


async def _read(call: Call, owner_id: UserId) -> list[Saved]:
    sees_all = any(call.user.access.allows(node) for node in SEE_ALL)
    return await call.service.database.read(read_list, owner_id, call.user_id, sees_all)
