"""Requests to the catalogues of mods, made of checked parts alone, and in one form for all that ask the same."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeAlias

from routes.edge.errors import bad_parameter

SourceName: TypeAlias = Literal["modrinth", "curseforge"]

QUERY_MAX = 256
"""Most characters of a search text."""

OFFSET_MAX = 10_000
"""Largest offset of a result; no catalogue gives results beyond it."""

MINUTE = 60
FIVE_MINUTES = 300
DAY = 24 * 3600

_GAME_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,63}", re.ASCII)


class Unreadable(Exception):
    """An answer does not have the expected form."""


Reading: TypeAlias = Callable[[bytes], bytes]
"""Turns the body of an answer into what is kept of it; raises `Unreadable`."""


@dataclass(frozen=True, slots=True)
class ModRequest:
    """One request to a catalogue. Equal requests have the same answer, so it is the key under which the answer is kept.

    Args:
        path: the path's segments below the catalogue's base address.
        query: (name, value) of the parameters, always in the same order.
        fresh_seconds: how long an answer stays fresh.
        reading: turns the answer into what is kept; a module's function, because requests are compared.
    """

    source: SourceName
    path: tuple[str, ...]
    query: tuple[tuple[str, str], ...]
    fresh_seconds: int
    reading: Reading

    @property
    def text_bytes(self) -> int:
        """How many bytes the texts of the request have."""
        return sum(len(text.encode("utf-8")) for text in (*self.path, *chain.from_iterable(self.query)))


def searched(text: str | None) -> str:
    """Normalise a text to search for: without white space around it, and "" for None.

    Raises:
        BadQuery: the text is too long, or has characters that cannot be printed.
    """
    stripped = (text or "").strip()
    if len(stripped) > QUERY_MAX or not stripped.isprintable():
        raise bad_parameter("query", f"has more than {QUERY_MAX} characters, or some that cannot be seen")
    return stripped


def offset_of(offset: int) -> int:
    """Check an offset, and return it.

    Raises:
        BadQuery: the offset is negative, or above `OFFSET_MAX`.
    """
    if not 0 <= offset <= OFFSET_MAX:
        raise bad_parameter("offset", f"is not between 0 and {OFFSET_MAX}")
    return offset


def game_version(text: str) -> str:
    """Check a version of the game, such as `1.21` or `24w14a`, and return it.

    Raises:
        BadQuery: the text does not have the form of a version.
    """
    if _GAME_VERSION.fullmatch(text) is None:
        raise bad_parameter("gameVersion", "is not a version of the game")
    return text
