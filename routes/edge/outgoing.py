"""A response, ready for any carrier: Quart today, the lean connection next. It knows neither."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""(lower-case name, value), in the order in which they go out."""


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A part of a file, to be streamed.

    Args:
        path: of a file that exists.
        start: of the first byte, from 0.
        length_bytes: how many bytes, at least 0.
    """

    path: Path
    start: int
    length_bytes: int


class Outgoing:
    """A response.

    Args:
        status: 200 to 599.
        headers: (lower-case name, value); Content-Length is added by `finish`.
        body: the bytes, or what to stream.
    """

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes | FileSlice = b"") -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def length_bytes(self) -> int:
        """What Content-Length says."""
        return len(self.body) if isinstance(self.body, bytes) else self.body.length_bytes

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header, or None.

        Args:
            name: in lower case.
        """
        for known, text in self.headers:
            if known == name:
                return text
        return None
