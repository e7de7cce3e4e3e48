"""Source maps (ECMA-426) for files in which every line is a line of one source, so that browsers' developer tools show
the sources in place of the joined file.
"""

from collections.abc import Sequence
from typing import NamedTuple

import orjson

_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_BITS = 5


class Start(NamedTuple):
    """The place of a source in the joined file.

    Args:
        source: the source's address, relative to the file.
        line: the line of the file at which the source begins, from 0.
        lines: how many lines the source has.
    """

    source: str
    line: int
    lines: int


def source_map(file: str, starts: Sequence[Start]) -> bytes:
    """The source map of a file, as JSON.

    Args:
        file: the file's name.
        starts: the places of all sources, in order.
    """
    mappings: list[str] = []
    before = 0  # the last line of a source that was mapped; all but columns is told as a difference
    for number, start in enumerate(starts):
        mappings += [""] * (start.line - len(mappings))
        for line in range(start.lines):
            is_next_source = number > 0 and line == 0
            mappings.append(f"A{_number(int(is_next_source))}{_number(line - before)}A")
            before = line
    sources = [start.source for start in starts]
    return orjson.dumps(
        {"version": 3, "file": file, "sources": sources, "names": [], "mappings": ";".join(mappings)}
    )


def _number(value: int) -> str:
    """A signed number as base64 digits of five bits each, the lowest first (ECMA-426 §4.2)."""
    left = abs(value) << 1 | (value < 0)
    digits = ""
    while True:
        digit, left = left & (1 << _BITS) - 1, left >> _BITS
        digits += _DIGITS[digit | (left > 0) << _BITS]
        if not left:
            return digits
