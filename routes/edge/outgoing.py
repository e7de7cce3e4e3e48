"""A response, ready for any carrier: it knows neither sockets nor ASGI."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import trio

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""(lower-case name, value), in the order in which they go out."""


PIECE_BYTES = 64 * 1024
"""What is read from a file and sent at a time."""


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


async def pieces(part: FileSlice) -> AsyncIterator[bytes]:
    """The bytes of a part of a file, read as they are asked for.

    Cancellation closes the file.

    Args:
        part: ends early where the file was cut shorter; the missing bytes tell the client, by Content-Length.
    """
    left = part.length_bytes
    async with await trio.open_file(part.path, "rb") as file:
        await file.seek(part.start)
        while left > 0:
            piece = await file.read(min(PIECE_BYTES, left))
            if not piece:
                return
            left -= len(piece)
            yield piece
