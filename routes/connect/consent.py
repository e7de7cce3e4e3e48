"""Whether a game server may act for a player (contract §2, reliability G1): any client can register a server, so its
credentials alone must not let it act for a user.
"""

from actors.errors import Forbidden
from actors.id_fields import uuid_in
from actors.ids import UserId
from routes.call import Call
from routes.connect.guards import require_scope
from routes.connect.parts import GAME_SERVERS
from routes.friends.parts import FRIENDS_LIVE
from routes.users.parts import USER_DIRECTORY

NODE = "connect:social.act"
"""The permission node that lets a server act for every user, if its owner holds it."""

SCOPE = "server.social.act"
"""The scope that a delegated token needs."""


async def acting_for(
    call: Call, actor_id: str, node: str | None = None, *, pointer: str = "/actorId"
) -> UserId:
    """Check that the calling server may act for a player, and return the player's id.

    The server must be claimed, and either its owner holds `connect:social.act` or the player has a session on it, begun
    with a ticket of their own. The server may not do for a player what the player may not do themselves.

    Args:
        actor_id: the player, as the body names them.
        node: the permission that the player's own request would need, or None.
        pointer: where the body names them (RFC 6901).

    Raises:
        Invalid: `actor_id` is not a uuid.
        Forbidden: with `meta.permission`: the token lacks the scope, the player has not consented, or lacks `node`. A
            player who does not exist has not consented.
        NotFound: there is no such player, and the owner holds `connect:social.act`.
    """
    server = call.server
    user_id = uuid_in(actor_id, pointer)
    require_scope(server, SCOPE)
    if not has_consent(call, user_id):
        raise Forbidden("this player has not let the server act for them", permission=NODE)
    access = await call.service.of(USER_DIRECTORY).access_of(user_id)
    if node is not None and not access.allows(node):
        raise Forbidden(f"missing permission {node}", permission=node)
    return UserId(user_id)


def has_consent(call: Call, user_id: str) -> bool:
    """Whether the calling server may act for this player: by its owner's node, or by a session of the player.

    A block between player and owner counts from the moment at which it is known; the session ends soon after it.
    """
    server, service = call.server, call.service
    if server.owner_id is None:
        return False
    return server.access.allows(NODE) or (
        service.of(GAME_SERVERS).playing.plays_on(user_id, server.server_id, call.now_ms)
        and not service.of(FRIENDS_LIVE).parted(user_id, server.owner_id)
    )
