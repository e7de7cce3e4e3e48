"""Decode files that arrive as base64 in JSON (RFC 4648 §4): megabytes of text, decoded piece by piece.

Decoding holds the GIL, in whichever thread it is done: 50 ms for 8 MiB. The decoder sleeps briefly between two pieces
to release it, because another thread that wants it otherwise waits 5 ms, at each system call.
"""

from binascii import Error, a2b_base64
from time import sleep

PIECE_CHARACTERS = 128 * 1024
"""Characters that are decoded at once, in less than a millisecond; a multiple of four, so that a piece is base64 by
itself."""

_PAUSE_SECONDS = 0.0002


def decoded(text: str) -> bytes:
    """Decode base64 text. Blocks: call it in a worker thread.

    Args:
        text: base64 with padding, and without any other character, such as line ends.

    Raises:
        ValueError: the text is not base64; it may be its subclass `binascii.Error`.
    """
    if len(text) % 4 or text.find("=", 0, max(0, len(text) - 2)) >= 0:
        raise Error("padding is missing, or not at the end")
    pieces: list[bytes] = []
    for start in range(0, len(text), PIECE_CHARACTERS):
        pieces.append(a2b_base64(text[start : start + PIECE_CHARACTERS], strict_mode=True))
        sleep(_PAUSE_SECONDS)
    return b"".join(pieces)
