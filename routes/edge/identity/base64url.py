"""base64url without padding, strictly: one byte string has one spelling (RFC 4648 §5, RFC 7515 §2).

The standard library skips foreign characters and ignores leftover bits, so that many spellings decode to the same
bytes, and a changed character of a token could go unnoticed.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode


def to_base64url(raw: bytes) -> str:
    """The bytes as base64url, without padding."""
    return urlsafe_b64encode(raw).rstrip(b"=").decode()


def from_base64url(text: str) -> bytes:
    """The bytes that a base64url text spells.

    Args:
        text: base64url without padding.

    Raises:
        ValueError: the text is not exactly what `to_base64url` would return for those bytes.
    """
    try:
        raw = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError as error:
        raise ValueError("not base64url") from error
    if to_base64url(raw) != text:
        raise ValueError("not the canonical base64url")
    return raw
