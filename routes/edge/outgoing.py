"""A response as the pipeline makes it, for any carrier: nothing of sockets or ASGI."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import trio

Headers: TypeAlias = list[tuple[bytes, bytes]]
"""(lower-case name, value), in the order in which they go out."""


PIECE_BYTES = 64 * 1024
"""How many bytes are read from a file, and sent, at a time."""


@dataclass(frozen=True, slots=True)
class FileSlice:
    """A part of a file, streamed as a response body.

    Args:
        path: the path of an existing file.
        start: offset of the first byte, from 0.
        length_bytes: how many bytes the part has, at least 0.
    """

    path: Path
    start: int
    length_bytes: int


class Outgoing:
    """A response.

    Args:
        status: 200 to 599, or 101 for an accepted WebSocket.
        headers: (lower-case name, value); the pipeline adds Content-Length and what every response has.
        body: the bytes, or the file to stream.
    """

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Headers, body: bytes | FileSlice = b"") -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def length_bytes(self) -> int:
        """The length of the body, for Content-Length."""
        return len(self.body) if isinstance(self.body, bytes) else self.body.length_bytes

    def header(self, name: bytes) -> bytes | None:
        """The first value of a header, or None.

        Args:
            name: the header's name in lower case.
        """
        for known, text in self.headers:
            if known == name:
                return text
        return None


async def pieces(part: FileSlice) -> AsyncGenerator[bytes, None]:
    """Read a part of a file piece by piece, as the caller consumes it.

    To be iterated inside `aclosing`: who stops early (the client went) leaves the file open otherwise, until the
    collector happens to find it. Cancellation closes the file.

    Args:
        part: the part to read; if the file is shorter, the iteration ends early, and the client notices by
            Content-Length.

    Raises:
        OSError: the file cannot be opened or read.
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
