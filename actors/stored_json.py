"""Parse JSON of clients a second time: stored after a check, or part of a file that they sent."""

from math import isinf
from typing import Any

import msgspec


def values_in(text: bytes) -> Any:
    """Parse JSON to Python values.

    Floats are read by Python: msgspec takes 8 µs for each beyond 1e300 or below 1e-300, so that a client that stores
    ten thousand of those would block the event loop each time they are parsed.

    Args:
        text: the JSON, whose length the caller has bounded.

    Raises:
        ValueError: the text is not JSON, or has a number beyond all floats.
        RecursionError: the JSON is nested too deep to be read.
    """
    return _decoder.decode(text)


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise ValueError("a number is beyond all floats")
    return number


_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(float_hook=_finite)
