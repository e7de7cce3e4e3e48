"""Claim keys as people read and type them: 20 characters of Crockford's base32 in groups of five (contract §7)."""

from hashlib import sha256

from actors.ids import RandomBytes

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without I, L, O and U, which are easily misread."""

CHARACTERS = 20
GROUP = 5

_TYPED = str.maketrans("ILO", "110", "- ")


def new_claim_key(random_bytes: RandomBytes) -> str:
    """A fresh key of 100 random bits.

    Args:
        random_bytes: the injected source of randomness.
    """
    # 256 is a multiple of 32, so all characters are equally likely.
    characters = "".join(ALPHABET[byte % 32] for byte in random_bytes(CHARACTERS))
    return "-".join(characters[at : at + GROUP] for at in range(0, CHARACTERS, GROUP))


def parse_claim_key(text: str) -> str | None:
    """The canonical form of a key as typed by a person: any case, with or without groups, I and L for 1, O for 0.

    None when it cannot be a key.
    """
    characters = text.upper().translate(_TYPED)
    if not text.isascii() or len(characters) != CHARACTERS or not set(characters) <= set(ALPHABET):
        return None
    return "-".join(characters[at : at + GROUP] for at in range(0, CHARACTERS, GROUP))


def digest(secret: str) -> bytes:
    """SHA-256 of a secret, key or ticket; only this hash is stored."""
    return sha256(secret.encode()).digest()
