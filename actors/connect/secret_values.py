"""Secret values of settings: sealed wherever they are kept, opened for their server alone (contract §7)."""

from collections.abc import Mapping

import msgspec

from actors.vault import Vault

_BOUND_TO = b"settings of a game server"


def seal_values(vault: Vault, values: Mapping[str, str], nonce: bytes) -> bytes:
    """Encrypt {key: secret value}.

    Args:
        nonce: 12 random bytes, never used before under the vault's key.
    """
    return vault.seal(msgspec.msgpack.encode(dict(values)), _BOUND_TO, nonce)


def open_values(vault: Vault, sealed: bytes | None) -> dict[str, str]:
    """{key: secret value}; empty when nothing was sealed, or under a key that is lost."""
    opened = None if sealed is None else vault.open(sealed, _BOUND_TO)
    return {} if opened is None else msgspec.msgpack.decode(opened, type=dict[str, str])
