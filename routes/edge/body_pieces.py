"""A request body that its handler reads piece by piece, however long it is.

    @endpoint("PUT", "/v1/things/{thingId}/content", needs="things:write", max_bytes=bound)
    async def put_content(call: Call, thing_id: ObjectId, body: BodyPieces) -> Thing:
        async for piece in body:
            ...

Nothing is read ahead but what a connection holds for any request (`server/connection.py`: 64 KiB): while the handler
works on a piece, the client has to wait. So the memory that an upload takes depends neither on its length nor on the
speed of either side.
"""

import hashlib
from collections.abc import Awaitable, Callable
from math import inf
from typing import Final

import trio

from routes.edge.deadline import Deadline
from routes.edge.errors import CutShort, PayloadTooLarge
from routes.edge.incoming import Incoming
from routes.edge.transport.refusals import RequestTimeout

SILENCE_SECONDS: Final = 60.0
"""How long the next byte of the body may take to arrive."""

LEAST_BYTES_PER_SECOND: Final = 16 * 1024
"""The slowest upload that is tolerated in the long run; below it, the time for the next byte becomes shorter. The
server has the same bound for bodies that are read whole, but not over HTTP/2."""


class BodyPieces:
    """The body of one request; iterate over it once, with `async for`.

    While it waits for the client the request has no deadline; while the handler works on a piece it has the usual one,
    counted from the piece's arrival.

    Args:
        incoming: the request; its head is checked.
        max_bytes: the most bytes of the body that are accepted.
        deadline: the request's deadline, which has begun.
        request_seconds: how long the handler may work on a piece, and on what follows the last one.

    Attributes:
        length_bytes: the length that Content-Length announces, at most `max_bytes`; None for a chunked body.
        max_bytes: the most bytes of the body that are accepted.
        arrived_bytes: how many bytes all pieces so far have together.
        before_end: asked once the body is complete, unless it came with the head; what it raises, iterating raises.
    """

    __slots__ = (
        "_deadline",
        "_hash",
        "_incoming",
        "_more",
        "_patience_seconds",
        "_request_seconds",
        "_tell",
        "arrived_bytes",
        "before_end",
        "length_bytes",
        "max_bytes",
    )

    def __init__(
        self, incoming: Incoming, *, max_bytes: int, deadline: Deadline, request_seconds: float
    ) -> None:
        declared = incoming.declared_bytes(otherwise=-1)
        self.length_bytes = declared if declared >= 0 else None
        self.max_bytes = max_bytes
        self.arrived_bytes = 0
        self._incoming = incoming
        self._deadline = deadline
        self._request_seconds = request_seconds
        self._patience_seconds = SILENCE_SECONDS
        self._more = True
        self._hash = hashlib.sha256()
        self._tell: Callable[[bytes], None] | None = None
        self.before_end: Callable[[], Awaitable[object]] | None = None

    def when_complete(self, tell: Callable[[bytes], None]) -> None:
        """Have `tell` called with the body's SHA-256 once it is complete; call this before anything of it is read."""
        self._tell = tell

    async def skip(self) -> None:
        """Read the rest of the body, and drop it.

        Cancellation, and what it raises: as for iteration.
        """
        async for _ in self:
            pass

    def __aiter__(self) -> "BodyPieces":
        return self

    async def __anext__(self) -> bytes:
        """The next piece, never empty. Cancellation loses nothing that has arrived.

        Raises:
            PayloadTooLarge: the body is longer than `max_bytes`.
            RequestTimeout: no byte came for `SILENCE_SECONDS`, or bytes came too slowly for long.
            CutShort: the client is gone, or sent another length than it announced.
            StopAsyncIteration: the body is complete.
        """
        while self._more:
            piece = await self._next()
            self.arrived_bytes += len(piece)
            if self.arrived_bytes > self.max_bytes:
                raise PayloadTooLarge(maxBytes=self.max_bytes)
            if piece:
                if self._tell is not None:
                    self._hash.update(piece)
                return piece
        if self.length_bytes is not None and self.length_bytes != self.arrived_bytes:
            raise CutShort
        if self.before_end is not None and self._incoming.whole is None:
            await self.before_end()
        if self._tell is not None:
            self._tell(self._hash.digest())
        raise StopAsyncIteration

    async def _next(self) -> bytes:
        whole = self._incoming.whole
        if whole is not None:
            self._more = False
            return whole
        if self._patience_seconds <= 0:
            raise RequestTimeout
        began = trio.current_time()
        self._deadline.move(inf)
        piece: bytes | None = None
        try:
            with trio.move_on_after(self._patience_seconds):
                piece, self._more = await self._incoming.receive()
        finally:
            now = trio.current_time()
            self._deadline.move(now + self._request_seconds)
        if piece is None:
            raise RequestTimeout
        earned = len(piece) / LEAST_BYTES_PER_SECOND
        self._patience_seconds = min(SILENCE_SECONDS, self._patience_seconds - (now - began) + earned)
        return piece
