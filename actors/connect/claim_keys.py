"""Claim keys as people read and type them: 20 characters of Crockford's base32 in groups of five (contract §7)."""

from hashlib import sha256

from actors.ids import RandomBytes

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without I, L, O and U, which are mistaken for others."""

CHARACTERS = 20
GROUP = 5

_TYPED = str.maketrans("ILO", "110", "- ")


def new_claim_key(random_bytes: RandomBytes) -> str:
    """A fresh key: 100 random bits.

    Args:
        random_bytes: the injected source of randomness.
    """
    # 256 is 8 times 32: every character is as likely.
    characters = "".join(ALPHABET[byte % 32] for byte in random_bytes(CHARACTERS))
    return "-".join(characters[at : at + GROUP] for at in range(0, CHARACTERS, GROUP))


def parse_claim_key(text: str) -> str | None:
    """The key that somebody typed, as it was shown: any case, groups or none, I and L for 1, O for 0.

    None when it cannot be one.
    """
    characters = text.upper().translate(_TYPED)
    if not text.isascii() or len(characters) != CHARACTERS or not set(characters) <= set(ALPHABET):
        return None
    return "-".join(characters[at : at + GROUP] for at in range(0, CHARACTERS, GROUP))


def digest(secret: str) -> bytes:
    """SHA-256 of a secret, key or ticket: all that is kept of it."""
    return sha256(secret.encode()).digest()
