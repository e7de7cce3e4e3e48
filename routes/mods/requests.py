"""Requests to the catalogues of mods, made of checked parts alone, and in one form for all that ask the same."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

from routes.edge.errors import bad_parameter

SourceName: TypeAlias = Literal["modrinth", "curseforge"]

QUERY_MAX = 256
"""Most characters of a text that is searched for."""

OFFSET_MAX = 10_000
"""Results beyond this one are not to be had of any catalogue."""

MINUTE = 60
FIVE_MINUTES = 300
DAY = 24 * 3600

_GAME_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}", re.ASCII)


class Unreadable(Exception):
    """An answer is not what it should be."""


Reading: TypeAlias = Callable[[bytes], bytes]
"""What is kept of the body of an answer; raises `Unreadable`."""


@dataclass(frozen=True, slots=True)
class ModRequest:
    """One request to a catalogue. Equal requests have the same answer, so it is the key under which that is kept.

    Args:
        path: segments below the catalogue's base address.
        query: (name, value), in one order.
        fresh_seconds: how long an answer holds.
        reading: a function of a module, because requests are compared.
    """

    source: SourceName
    path: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    fresh_seconds: int
    reading: Reading

    @property
    def text_bytes(self) -> int:
        """What its texts take."""
        return sum(len(text.encode("utf-8")) for text in (*self.path, *chain.from_iterable(self.query)))


def searched(text: str | None) -> str:
    """A text to search for, without white space around it; empty for none.

    Raises:
        BadQuery: it is too long, or has characters that cannot be seen.
    """
    stripped = (text or "").strip()
    if len(stripped) > QUERY_MAX or not stripped.isprintable():
        raise bad_parameter("query", f"has more than {QUERY_MAX} characters, or some that cannot be seen")
    return stripped


def offset_of(offset: int) -> int:
    """An offset that catalogues take.

    Raises:
        BadQuery: it is negative, or beyond what can be had.
    """
    if not 0 <= offset <= OFFSET_MAX:
        raise bad_parameter("offset", f"is not between 0 and {OFFSET_MAX}")
    return offset


def game_version(text: str) -> str:
    """A version of the game, such as `1.21` or `24w14a`.

    Raises:
        BadQuery: it does not look like one.
    """
    if _GAME_VERSION.fullmatch(text) is None:
        raise bad_parameter("gameVersion", "is not a version of the game")
    return text
