"""base64url without padding, strictly: one byte string has one spelling (RFC 4648 §5, RFC 7515 §2).

The standard library skips foreign characters and ignores leftover bits, so that many spellings decode to the same
bytes, and a changed character of a token could go unnoticed.
"""

from binascii import a2b_base64, b2a_base64

_TO_URL = bytes.maketrans(b"+/", b"-_")
_FROM_URL = bytes.maketrans(b"-_", b"+/")


def to_base64url(raw: bytes) -> str:
    """The bytes as base64url, without padding."""
    return b2a_base64(raw, newline=False).translate(_TO_URL, b"=").decode()


def from_base64url(text: str) -> bytes:
    """The bytes that a base64url text spells.

    Args:
        text: base64url without padding.

    Raises:
        ValueError: the text is not exactly what `to_base64url` would return for those bytes.
    """
    try:
        # Padding beyond what is missing is ignored.
        raw = a2b_base64(text.encode("ascii").translate(_FROM_URL) + b"==")
    except ValueError as error:
        raise ValueError("not base64url") from error
    if to_base64url(raw) != text:
        raise ValueError("not the canonical base64url")
    return raw
