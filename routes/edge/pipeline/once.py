"""Requests under an Idempotency-Key: a repeated one gets the first answer, and has no second effect (contract §3).

The answer is stored with the effect, in its transaction. If no transaction has stored it, because the effect is in
memory alone, or there was none, it is stored by itself before it is sent, so that repeats are answered alike on every
route. If the same request is answered on two nodes at once, or again while the first one is still being committed,
PostgreSQL takes the receipt of one of them, or the effect of one is why the other is refused: that other sends the
answer of the first.
"""

from collections.abc import Coroutine

from actors.errors import Overloaded, Refused
from persistence.connection import Connection
from persistence.errors import RowsRejected
from persistence.journal import receipts
from routes.edge.body_pieces import BodyPieces
from routes.edge.declare.route import Endpoint
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.bodies import Bodies
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.gate import Gate
from routes.edge.pipeline.idempotency import Attempt, Idempotency, id_kept
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.rendering import JSON_HEADER, render
from routes.edge.reply import Ask
from routes.edge.wire import encode


class Once:
    """Answers requests that have passed all checks and have an Idempotency-Key.

    Args:
        service: the parts of the service.
        gate: bounds the bytes of answers that are kept for each caller.
        bodies: computes the digests of bodies, those of large ones in a worker thread.
    """

    def __init__(self, service: Parts, gate: Gate, bodies: Bodies) -> None:
        self._database = service.database
        self._gate = gate
        self._bodies = bodies
        self._idempotency = Idempotency(service.keys.sealing_key)

    async def answer(
        self,
        call: Call[Parts],
        endpoint: Endpoint,
        incoming: Incoming,
        arguments: dict[str, object],
        key: bytes,
    ) -> Outgoing:
        """The response to a request, or the one that its first try had. Cancellation abandons it; an effect in flight
        goes on.

        Args:
            call: the request's call, which has the whole body unless the handler reads it.
            endpoint: the declared endpoint, which is `keyed`.
            incoming: the request.
            arguments: the handler's arguments, by name.
            key: the Idempotency-Key, as sent.

        Raises:
            BadQuery: the key is not well-formed.
            IdempotencyInProgress: a request with this key is in progress.
            IdempotencyKeyReused: the key came with another body before, or its answer cannot be given again.
            RateLimited: the caller has used up the bytes of kept answers.
            What the handler raises, and what storing its answer does.
        """
        body, principal, data = arguments.get("body"), call.principal, call.data
        call.attempt = attempt = self._idempotency.begin(
            key,
            scope=principal.key if principal is not None else call.client_address,
            line=f"{endpoint.method} {incoming.path}",
            body_digest=None if data is None else await self._bodies.digest(data),
            secret=endpoint.secret_reply,
            now_ms=call.now_ms,
            id_only=endpoint.again is not None,
        )
        if isinstance(body, BodyPieces):
            body.when_complete(attempt.read)
        try:
            return await self._answered(call, endpoint, incoming, arguments, attempt)
        finally:
            self._idempotency.end(attempt)
            self._gate.count_kept(call, attempt.kept_bytes)

    async def _answered(
        self,
        call: Call[Parts],
        endpoint: Endpoint,
        incoming: Incoming,
        arguments: dict[str, object],
        attempt: Attempt,
    ) -> Outgoing:
        replayed = await self._replay(call, endpoint, arguments, attempt)
        if replayed is not None:
            return replayed
        self._gate.check_kept(call)
        try:
            result = endpoint.handler(call, **arguments)
            if isinstance(result, Coroutine | Ask):
                result = await result
            if not attempt.kept:
                await call.transact(_as_returned, result)
        except Overloaded:
            raise
        except (RowsRejected, Refused):
            # An earlier request with this key, whose outcome its caller never learned, or one on another node, has
            # committed its receipt first: that is the answer, also where its effect is why this one is refused.
            replayed = await self._replay(call, endpoint, arguments, attempt)
            if replayed is None:
                raise
            return replayed
        return await render(call, endpoint, incoming, result)

    async def _replay(
        self, call: Call[Parts], endpoint: Endpoint, arguments: dict[str, object], attempt: Attempt
    ) -> Outgoing | None:
        kept = await self._database.read(receipts.find, attempt.key, call.now_ms)
        if kept is None:
            return None
        pieces = arguments.get("body")
        if isinstance(pieces, BodyPieces):
            await pieces.skip()
        status, body, etag = attempt.replay(kept)
        if endpoint.again is not None:
            body = encode(await endpoint.again(call, id_kept(body), arguments))
        headers: Headers = [(b"idempotent-replayed", b"true")]
        if etag:
            headers.append((b"etag", etag))
        return Outgoing(status, [JSON_HEADER, *headers] if body else headers, body)


async def _as_returned(_conn: Connection, result: object) -> object:
    return result
