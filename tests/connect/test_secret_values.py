"""Secret values of settings, sealed in the format of the rows and snapshots that databases already have."""

from actors.connect.secret_values import open_values, seal_values
from actors.vault import Vault

KEY, NONCE = bytes(range(32)), bytes(range(12))
VALUES = {"token": "hush", "door": "1234"}
STORED = bytes.fromhex(
    "000102030405060708090a0bc5a7a274ae80acbfe534e4e3158d1702f172b606c34f5316671186ee93e1d81c855d836e5d72"
)
"""`VALUES`, as version 2026.11.23 sealed them under this key and nonce."""


def test_stored_values_still_open():
    assert open_values(Vault(KEY), STORED) == VALUES


def test_the_format_is_unchanged():
    assert seal_values(Vault(KEY), VALUES, NONCE) == STORED


def test_values_sealed_under_a_lost_key_are_gone():
    assert open_values(Vault(bytes(32)), STORED) == {}
    assert open_values(Vault(KEY), None) == {}
