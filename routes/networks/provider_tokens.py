"""Seals the tokens of DNS providers for storage, and opens them."""

from actors.ids import RandomBytes
from actors.vault import NONCE_BYTES, Vault
from persistence.networks.rows import DnsRow
from routes.edge.identity.keys import Keys

PURPOSE = "tokens of DNS providers"
"""Purpose from which the key that seals the tokens is derived."""

VERSION = b"\x01"
"""The version of that key, and of the format of sealed tokens."""


class ProviderTokens:
    """Seals and opens the tokens of DNS providers.

    Args:
        keys: the keys of this installation, from which the key for the tokens is derived.
        random_bytes: the source of nonces; must be cryptographic.
    """

    def __init__(self, keys: Keys, random_bytes: RandomBytes) -> None:
        self._vault = Vault(keys.derive(PURPOSE), VERSION)
        self._random_bytes = random_bytes

    def seal(self, token: str, network_id: str, zone_id: str) -> bytes:
        """Seal a provider's token for storage; it can only be opened for this network and zone.

        Args:
            token: the provider's token, of visible ASCII characters.
        """
        nonce = self._random_bytes(NONCE_BYTES)
        return self._vault.seal(token.encode("ascii"), _bound_to(network_id, zone_id), nonce)

    def open(self, row: DnsRow) -> bytes | None:
        """The token of a row, or None when it was sealed for another row, or with another key."""
        return self._vault.open(row.sealed_token, _bound_to(row.network_id, row.zone_id))


def _bound_to(network_id: str, zone_id: str) -> bytes:
    return f"{network_id}/{zone_id}".encode("ascii")
