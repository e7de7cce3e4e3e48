"""Sealed secrets: opened with the same key, version and place, and with nothing else."""

import secrets

import pytest

from actors.vault import NONCE_BYTES, Vault

KEY = b"k" * 32
VERSIONS = [b"", b"\x01"]


def _seal(vault: Vault) -> bytes:
    return vault.seal(b"secret", b"row", secrets.token_bytes(NONCE_BYTES))


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_sealed_opens_again(version: bytes):
    vault = Vault(KEY, version)
    sealed = _seal(vault)
    assert sealed.startswith(version)
    assert len(sealed) == len(version) + NONCE_BYTES + len(b"secret") + 16
    assert b"secret" not in sealed
    assert vault.open(sealed, b"row") == b"secret"


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_else_opens_it(version: bytes):
    vault = Vault(KEY, version)
    sealed = _seal(vault)
    assert vault.open(sealed, b"another row") is None
    assert Vault(b"n" * 32, version).open(sealed, b"row") is None
    assert Vault(KEY, b"\x02").open(sealed, b"row") is None


@pytest.mark.parametrize("at", range(1 + NONCE_BYTES + 6 + 16))
def test_a_flipped_bit_is_noticed(at: int):
    vault = Vault(KEY, b"\x01")
    sealed = bytearray(_seal(vault))
    sealed[at] ^= 1
    assert vault.open(bytes(sealed), b"row") is None
    assert vault.open(bytes(sealed[:at]), b"row") is None


def test_the_version_is_authenticated():
    """Text sealed under one version is no text of another, though the key is the same."""
    sealed = _seal(Vault(KEY, b"\x01"))
    assert Vault(KEY, b"\x02").open(b"\x02" + sealed[1:], b"row") is None
