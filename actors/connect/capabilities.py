"""What a user may do with one game server (contract §2): asked for beside the permission node of a route."""

from actors.connect.state import State
from actors.errors import Forbidden, NotFound

CAPABILITIES = frozenset(
    {
        "server.settings.read",
        "server.settings.write",
        "server.commands.read",
        "server.commands.write",
        "server.members.read",
        "server.members.write",
        "server.publication.write",
    }
)
"""All there are; the owner has them."""


def capabilities_of(state: State, user_id: str) -> frozenset[str]:
    """What a user may do; nothing at all for a stranger."""
    owner_id = state.row.owner_id
    return CAPABILITIES if owner_id is not None and owner_id == user_id else frozenset()


def require(state: State, user_id: str | None, capability: str) -> None:
    """Pass the server itself, and users who have the capability.

    Args:
        user_id: None for the server itself.

    Raises:
        NotFound: a stranger.
        Forbidden: somebody who belongs here, and lacks it.
    """
    if user_id is None:
        return
    held = capabilities_of(state, user_id)
    if not held:
        raise NotFound
    if capability not in held:
        raise Forbidden(f"missing {capability}", permission=capability)
