"""Tokens of DNS providers, sealed in the format of the rows that databases already have."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from persistence.networks.rows import DnsRow
from routes.edge.identity.keys import Keys
from routes.networks.provider_tokens import ProviderTokens

KEYS = Keys(Ed25519PrivateKey.generate(), bytes(range(32)))
STORED = bytes.fromhex("01000102030405060708090a0bd45dba058c39aa31ff75c8c3c003780078254c2dec")
"""`token`, as version 2026.11.23 sealed it for (network, zone) under the master key and nonce of this test."""


def _row(network_id: str) -> DnsRow:
    return DnsRow(
        network_id=network_id,
        zone_id="zone",
        zone_name="example.com",
        sealed_token=STORED,
        token_status="active",
        created_at_ms=0,
        updated_at_ms=0,
    )


def test_stored_tokens_still_open():
    tokens = ProviderTokens(KEYS, lambda count: bytes(range(count)))
    assert tokens.open(_row("network")) == b"token"
    assert tokens.open(_row("another")) is None


def test_the_format_is_unchanged():
    tokens = ProviderTokens(KEYS, lambda count: bytes(range(count)))
    assert tokens.seal("token", "network", "zone") == STORED
