"""What a game server may do: its own capabilities, and a few of its owner's permission nodes (contract §2)."""

from dataclasses import dataclass

from actors.connect.capabilities import CAPABILITIES
from actors.users.permissions import Access

SERVER_NODES = frozenset({"connect:social.act", "social:voice.node", "ip:geo.read"})
"""The nodes that a server has when its owner holds them."""

SCOPES = CAPABILITIES | {"server.status.write", "server.sessions.write", "server.social.act"}
"""All scopes that a delegated token can have (contract §2): what members may do, and what servers do themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class ServerAccess:
    """The rights of a server.

    Args:
        owner: the rights of the server's owner; None while the server is unclaimed.
    """

    owner: Access | None

    def allows(self, node: str) -> bool:
        """Whether the server may do what the permission `node` gates."""
        return node in SERVER_NODES and self.owner is not None and self.owner.allows(node)

    def quota(self, _node: str) -> None:
        """Always None: quotas are granted to users only."""
        return

    @property
    def is_moderator(self) -> bool:
        """Always False: servers have no roles."""
        return False

    @property
    def is_super_admin(self) -> bool:
        """Always False: servers have no roles."""
        return False
