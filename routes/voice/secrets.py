"""The secrets of voice nodes, sealed for storage: tokens are signed with them, so a hash would not be enough."""

from collections.abc import Mapping
from typing import NamedTuple

import jwt

from actors.ids import RandomBytes
from actors.vault import NONCE_BYTES, Vault
from persistence.voice.nodes import NodeRow
from routes.edge.identity.keys import Keys

PURPOSE = "secrets of voice nodes"
"""Purpose from which the key that seals them is derived."""

VERSION = b"\x01"
"""The version of that key, and of the format of sealed secrets."""


class SigningKey(NamedTuple):
    """The key with which tokens for a node are signed.

    Args:
        name: the name of the key, which is the `iss` of its tokens.
    """

    name: str
    secret: bytes

    def sign(self, claims: Mapping[str, object]) -> str:
        """A token with these claims (HS256)."""
        return jwt.encode(dict(claims), self.secret, algorithm="HS256")


class NodeSecrets:
    """Seals and opens the secrets.

    Args:
        keys: the installation's keys, from which the key that seals secrets is derived.
        random_bytes: the random source of nonces; must be cryptographic.
    """

    def __init__(self, keys: Keys, random_bytes: RandomBytes) -> None:
        self._vault = Vault(keys.derive(PURPOSE), VERSION)
        self._random_bytes = random_bytes

    def seal(self, secret: str, node_id: str, part: str) -> bytes:
        """Seal a secret of a node.

        Args:
            secret: the secret in plain text.
            node_id: the node that it belongs to.
            part: `node` for the node's own secret, `livekit` for that of its API key.
        """
        return self._vault.seal(secret.encode(), _bound_to(node_id, part), self._random_bytes(NONCE_BYTES))

    def own(self, row: NodeRow) -> bytes | None:
        """The node's own secret; None if it was sealed for another node, or with another key."""
        return self._vault.open(row.sealed_secret, _bound_to(row.node_id, "node"))

    def signing(self, row: NodeRow) -> SigningKey | None:
        """The key that tokens for this node are signed with; None as in `own`."""
        if row.livekit_key is None or row.sealed_livekit is None:
            secret = self.own(row)
            return None if secret is None else SigningKey(row.node_id, secret)
        secret = self._vault.open(row.sealed_livekit, _bound_to(row.node_id, "livekit"))
        return None if secret is None else SigningKey(row.livekit_key, secret)


def _bound_to(node_id: str, part: str) -> bytes:
    return f"{node_id}/{part}".encode("ascii")
