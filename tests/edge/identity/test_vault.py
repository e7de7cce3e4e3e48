"""Sealed secrets: opened with the same key, purpose and row, and with nothing else."""

import secrets

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from routes.edge.identity.keys import Keys
from routes.edge.identity.vault import VERSION, Vault


def _keys(master: bytes) -> Keys:
    return Keys(Ed25519PrivateKey.generate(), master)


def test_what_is_sealed_opens_again():
    vault = Vault(_keys(b"m" * 32), "a", secrets.token_bytes)
    sealed = vault.seal(b"secret", b"row")
    assert sealed[:1] == VERSION
    assert b"secret" not in sealed
    assert vault.open(sealed, b"row") == b"secret"
    assert vault.seal(b"secret", b"row") != sealed


def test_nothing_else_opens_it():
    keys = _keys(b"m" * 32)
    vault = Vault(keys, "a", secrets.token_bytes)
    sealed = vault.seal(b"secret", b"row")
    assert vault.open(sealed, b"another row") is None
    assert Vault(keys, "b", secrets.token_bytes).open(sealed, b"row") is None
    assert Vault(_keys(b"n" * 32), "a", secrets.token_bytes).open(sealed, b"row") is None


@pytest.mark.parametrize("at", range(1 + 12 + 6 + 16))
def test_a_flipped_bit_is_noticed(at: int):
    vault = Vault(_keys(b"m" * 32), "a", secrets.token_bytes)
    sealed = bytearray(vault.seal(b"secret", b"row"))
    sealed[at] ^= 1
    assert vault.open(bytes(sealed), b"row") is None
    assert vault.open(bytes(sealed[:at]), b"row") is None
