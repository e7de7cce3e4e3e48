"""Whether a game server may act for a player (contract §2, reliability G1): anyone can register a server, so its
credentials alone must not let it speak for somebody else.
"""

from actors.errors import FieldError, Forbidden, Invalid
from actors.ids import UserId, parse_uuid
from routes.call import Call
from routes.connect.guards import require_scope
from routes.connect.parts import GAME_SERVERS
from routes.users.parts import USER_DIRECTORY

NODE = "connect:social.act"
"""Held by the owner, it lets a server act for anybody."""

SCOPE = "server.social.act"
"""What a delegated token must be for."""


async def acting_for(call: Call, actor_id: str, node: str | None = None) -> UserId:
    """The player for whom the calling server acts.

    The server is claimed, and either its owner holds `connect:social.act` or the player is on it by a ticket of their
    own. What the player themselves may not do, nobody does for them.

    Args:
        actor_id: as the body names them.
        node: the permission that the same request of the player's would need, or None.

    Raises:
        Invalid: it is no uuid.
        Forbidden: with `meta.permission`; the same for players that there are not.
        NotFound: there is no such player, and the owner holds `connect:social.act`.
    """
    server = call.server
    user_id = parse_uuid(actor_id)
    if user_id is None:
        raise Invalid(FieldError("/actorId", "BAD_FORMAT", "a uuid"))
    require_scope(server, SCOPE)
    if not has_consent(call, user_id):
        raise Forbidden("this player has not let the server act for them", permission=NODE)
    access = await call.service.of(USER_DIRECTORY).access_of(user_id)
    if node is not None and not access.allows(node):
        raise Forbidden(f"missing permission {node}", permission=node)
    return UserId(user_id)


def has_consent(call: Call, user_id: str) -> bool:
    """Whether the calling server may act for this player: by its owner's node, or by a session of the player's own."""
    server = call.server
    return server.owner_id is not None and (
        server.access.allows(NODE)
        or call.service.of(GAME_SERVERS).playing.plays_on(user_id, server.server_id, call.now_ms)
    )
