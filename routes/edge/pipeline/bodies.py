"""The bodies of requests: their form, how long they may be and take, and their decoding, which may take a thread.

Nothing is read of a body before the gate has let its request pass, or a guard has left it to another node.
"""

import trio

from routes.edge.address import rate_key
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.route import Endpoint
from routes.edge.errors import MalformedJson, PayloadTooLarge, UnsupportedMedia
from routes.edge.incoming import Incoming
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.idempotency import digest_of
from routes.edge.pipeline.large_bodies import LARGE_BYTES, DecodingSlot, LargeBodies
from routes.edge.pipeline.media import check_form, sentence
from routes.edge.pipeline.parts import Parts
from routes.edge.wire import decode

BODY_SECONDS = 30.0
"""How long a body may take to arrive: enough for 8 MiB at 2.3 Mbit/s."""

OFFLOAD_BYTES = 32 * 1024
"""Larger bodies are decoded, and hashed, in a worker thread, so that no other request waits (reliability R16); the
worst of this length costs 5 ms."""


class Bodies:
    """Reads and decodes the bodies of requests that the gate has let pass.

    Args:
        service: the parts of the service.
    """

    __slots__ = ("_large", "_offloaded", "_request_seconds", "_service")

    def __init__(self, service: Parts) -> None:
        self._service = service
        self._request_seconds = service.config.request_seconds
        self._large = LargeBodies()
        # One thread: each holds the interpreter's lock while it decodes, so that more are no quicker, and the trio
        # thread would wait for all of them after each system call.
        self._offloaded = trio.CapacityLimiter(1)

    async def read(self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming, bound: int) -> bytes:
        """The whole body, which has the endpoint's media type and size; empty if there is none.

        No bytes have no media type, whatever is named: aiohttp and `curl -d ''` name one for every POST. Waits only
        where the body has not arrived with its head. Cancellation abandons the rest of it.

        Args:
            bound: most bytes that the endpoint accepts.

        Raises:
            UnsupportedMedia: the body has another media type, or names none.
            PayloadTooLarge: it is longer than the endpoint allows.
            MalformedJson: its Content-Length is not a number.
            TooMuchArriving: it does not fit the bound of its client's address, or of all bodies.
        """
        named = incoming.declared_bytes(otherwise=1) == 0 or check_form(incoming, endpoint.media)
        data = await self.passed_over(call, incoming, bound)
        if data and not named:
            raise UnsupportedMedia(sentence(endpoint.media))
        return data

    async def passed_over(self, call: Call[Parts], incoming: Incoming, bound: int) -> bytes:
        """The whole body for a handler that takes none, of whatever form; cancellation abandons the rest of it.

        Args:
            bound: most bytes that the endpoint accepts.

        Raises:
            PayloadTooLarge: it is longer than the endpoint allows.
            MalformedJson, TooMuchArriving: as in `read`.
        """
        data = await self.arrived(call, incoming, bound)
        if len(data) > bound:
            raise PayloadTooLarge(maxBytes=bound)
        return data

    def pieces(self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming, bound: int) -> BodyPieces:
        """The body for a handler that reads it itself.

        Args:
            bound: most bytes that the endpoint accepts.

        Raises:
            UnsupportedMedia: the body has another media type, or names none.
        """
        if not check_form(incoming, endpoint.media):
            raise UnsupportedMedia(sentence(endpoint.media))
        call.deadline.begin()
        return BodyPieces(
            incoming, max_bytes=bound, deadline=call.deadline, request_seconds=self._request_seconds
        )

    async def decode(self, call: Call[Parts], endpoint: Endpoint, data: bytes) -> object:
        """The body in the endpoint's shape; None where none was sent and none is needed.

        Args:
            data: the body, as `read` returned it.

        Cancellation does not end a decoding that a thread has begun; its result is dropped.

        Raises:
            MalformedJson: a body is required, or it is not JSON that is accepted.
            PayloadTooLarge: the body has more than 256 KiB without its long strings.
            Invalid: the body has another shape, or holds values that cannot be stored.
        """
        if not data:
            if endpoint.body_optional:
                return None
            raise MalformedJson("a body is required")
        shape = endpoint.shape
        if shape is None:
            return data
        if len(data) > OFFLOAD_BYTES:
            call.deadline.begin()
            return await trio.to_thread.run_sync(decode, data, shape, limiter=self._offloaded)
        return decode(data, shape)

    async def digest(self, data: bytes) -> bytes:
        """The digest by which a repeated request is told from another one with its key; cancellation drops it."""
        if len(data) > OFFLOAD_BYTES:
            return await trio.to_thread.run_sync(digest_of, data, limiter=self._offloaded)
        return digest_of(data)

    async def arrived(self, call: Call[Parts], incoming: Incoming, bound: int) -> bytes:
        """The whole body as it came, unchecked; waits only where it has not come with its head.

        Args:
            bound: most bytes that are waited for.

        Raises:
            PayloadTooLarge: it is longer than what is waited for.
            MalformedJson, TooMuchArriving: as in `read`. Cancellation abandons the rest of the body.
        """
        return await self._wait(call, incoming, bound) if incoming.whole is None else incoming.whole

    async def _wait(self, call: Call[Parts], incoming: Incoming, bound: int) -> bytes:
        call.deadline.begin()
        call.deadline.move(trio.current_time() + BODY_SECONDS)
        size_bytes = incoming.declared_bytes(otherwise=bound)
        if size_bytes > OFFLOAD_BYTES:
            principal = call.principal
            call.decoding_slot = DecodingSlot(self._large, principal.key if principal is not None else None)
            await call.decoding_slot.expect(size_bytes)
        key = rate_key(call.client_address) if self._service.limits.enabled else None
        data = await incoming.body(bound, self._service.arriving.tab(key))
        call.until = trio.current_time() + self._request_seconds
        call.deadline.move(call.until)
        if call.decoding_slot is not None and len(data) > LARGE_BYTES:
            await call.decoding_slot.work()
        return data
