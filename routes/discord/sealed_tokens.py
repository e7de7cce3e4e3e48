"""Seals the tokens of webhooks for storage, and opens them."""

from actors.discord.addresses import WebhookAddress
from actors.ids import RandomBytes
from actors.vault import NONCE_BYTES, Vault
from persistence.discord.rows import WebhookRow
from routes.edge.identity.keys import Keys

PURPOSE = "webhooks of Discord"
"""Purpose from which the key that seals the tokens is derived."""

VERSION = b"\x01"
"""The version of that key, and of the format of sealed tokens."""


class SealedTokens:
    """Seals and opens the tokens of webhooks.

    Args:
        keys: the keys of this installation, from which the key for the tokens is derived.
        random_bytes: the source of nonces; must be cryptographic.
    """

    def __init__(self, keys: Keys, random_bytes: RandomBytes) -> None:
        self._vault = Vault(keys.derive(PURPOSE), VERSION)
        self._random_bytes = random_bytes

    def seal(self, webhook: WebhookAddress, network_id: str) -> bytes:
        """Seal a webhook's token for storage; it can only be opened for this network and webhook."""
        nonce = self._random_bytes(NONCE_BYTES)
        return self._vault.seal(webhook.token.encode("ascii"), _bound_to(network_id, webhook.id), nonce)

    def open(self, row: WebhookRow) -> WebhookAddress | None:
        """The webhook of a row; None if it has no token, or one that was sealed for another row or by another key."""
        if row.webhook_id is None or row.sealed_token is None:
            return None
        token = self._vault.open(row.sealed_token, _bound_to(row.network_id, row.webhook_id))
        return None if token is None else WebhookAddress(row.webhook_id, token.decode("ascii"))


def _bound_to(network_id: str, webhook_id: str) -> bytes:
    return f"{network_id}/{webhook_id}".encode("ascii")
