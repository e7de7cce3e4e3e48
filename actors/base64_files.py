"""Files that come as base64 in JSON (RFC 4648 §4): megabytes of text, decoded piece by piece.

Decoding holds the interpreter's lock, in whichever thread it is done: 33 ms for 8 MiB in one piece, in which nobody is
answered. Between two pieces, others have their turn.
"""

from binascii import Error, a2b_base64

PIECE_CHARACTERS = 256 * 1024
"""Decoded in a millisecond; a multiple of four, so that a piece is base64 by itself."""


def decoded(text: str) -> bytes:
    """The bytes that a text stands for.

    Args:
        text: with padding, and without anything that is not base64, line ends included.

    Raises:
        ValueError: it is not base64.
    """
    if len(text) % 4 or "=" in text[:-2]:
        raise Error("padding is missing, or not at the end")
    return b"".join(
        a2b_base64(text[start : start + PIECE_CHARACTERS], strict_mode=True)
        for start in range(0, len(text), PIECE_CHARACTERS)
    )
