"""The pipeline: from an abstract request to a response, through every check, in the order of contract §1.

    route, method (the carrier) → declared size → gate.py: credentials, rate, permission, membership
    → media type, query and body → gate.py once more, if the body was waited for → idempotency
    → the handler, which asks the state

It knows neither Quart nor sockets: a carrier (`quart_app.py`, the lean connection) passes in an `Incoming` and gets
an `Outgoing`. `answer` raises nothing but cancellation: every error becomes a problem document.

A request that waits for nothing pays for nothing that waiting needs: no cancel scope (`deadline.py`), no task, no
closure. Whatever is awaited here comes after `deadline.begin()`, but for the answer of another node.
"""

import math
import re
from collections.abc import Coroutine
from functools import partial

import trio

from actors.errors import Draining, Elsewhere, Overloaded, Refused
from actors.ids import random_hex
from routes.edge.address import UNKNOWN, Proxies, normal, rate_key
from routes.edge.body_pieces import BodyPieces
from routes.edge.deadline import Deadline
from routes.edge.declare.endpoint import JSON_MAX_BYTES
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Stream
from routes.edge.errors import DatabaseDown, RateLimited
from routes.edge.incoming import REQUEST_ID, Incoming
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.bodies import OFFLOAD_BYTES, Bodies
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.cors import Cors
from routes.edge.pipeline.elsewhere import PASSED_MAX, READING, answered_elsewhere
from routes.edge.pipeline.gate import Gate
from routes.edge.pipeline.once import Once
from routes.edge.pipeline.opening import Opening
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.passing import FarClient, Passed
from routes.edge.pipeline.rendering import render
from routes.edge.problems import problem, problem_of
from routes.edge.reply import Ask
from routes.edge.tabs import Tab

_ID_BYTES = 12
_REQUEST_ID = re.compile(REQUEST_ID.encode("ascii"))
_NO_STORE = (b"cache-control", b"no-store")
_NO_SNIFFING = (b"x-content-type-options", b"nosniff")


class Edge:
    """Answers requests for the declared routes.

    Args:
        service: the parts of the service.
        table: the declared routes.
    """

    def __init__(self, service: Parts, table: RouteTable) -> None:
        config = service.config
        self.service = service
        self.table = table
        self._request_seconds = config.request_seconds
        self._answers = {
            route: service.metrics.answers(route.line) for route in (*table.endpoints, *table.streams)
        }
        self._bounds = {endpoint: endpoint.body_bound(config) for endpoint in table.endpoints}
        self._left = {endpoint for endpoint, bound in self._bounds.items() if _can_be_left(endpoint, bound)}
        self._by_line = {endpoint.line: endpoint for endpoint in table.endpoints}
        self._unmatched = service.metrics.answers("unmatched")
        self._ids = random_hex(service.random_bytes, _ID_BYTES)  # of requests and of live sockets
        self._proxies = Proxies(config.trusted_proxies, config.client_ip_header)
        self._cors = Cors(config.cors_origins)
        self._gate = Gate(
            service.authenticator,
            service.server_authenticator,
            service.limits,
            (*config.own_origins, *config.cors_origins),
            config.allow_query_tokens,
        )
        self._bodies = Bodies(service)
        self._once = Once(service, self._gate, self._bodies)

    async def answer(self, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """The response to a request for a declared endpoint. Cancellation abandons it; an effect in flight goes on.

        Args:
            endpoint: the declared endpoint.
            incoming: the request; HEAD for a GET endpoint is allowed.
        """
        started = trio.current_time()
        call = self._call(incoming, endpoint.status, started)
        try:
            outgoing = await self._in_time(call, endpoint, incoming)
        finally:
            if incoming.arrived_bytes:
                incoming.release()
        self._answers[endpoint].add(outgoing.status, trio.current_time() - started)
        return self._finished(call, incoming, outgoing)

    async def answer_passed(self, request: Passed, deadline: Deadline, client: FarClient) -> Outgoing:
        """The response to a request that another node has passed on: without the headers that the other node adds to
        all of its responses, but with those of the rates that are counted here.

        Args:
            request: the whole request; the other node has counted it for its rate, unless it is `uncounted`.
            deadline: the request's deadline, which also expires when the other node no longer waits.
            client: stands for the client that waits at the other node.

        Cancellation abandons it; an effect in flight goes on.
        """
        endpoint = self._by_line.get(request.line)
        if endpoint is None:  # of a release that this node is not
            return problem(Overloaded(), request.request_id)
        incoming = request.incoming(client)
        call = Call(
            self.service,
            self.table,
            request.request_id,
            request.client_address,
            incoming.headers,
            status=endpoint.status,
            now_ms=self.service.clock.now_ms(),
            deadline=deadline,
        )
        call.times_passed, call.uncounted = request.times, request.uncounted
        outgoing = await self._in_time(call, endpoint, incoming)
        if call.decision is not None:
            outgoing.headers += call.decision.fields()
        return outgoing

    async def open(self, stream: Stream, incoming: Incoming) -> Outgoing | Opening:
        """Check a WebSocket handshake: the response that refuses it, or the stream. Cancellation abandons it.

        Args:
            stream: the declared stream.
            incoming: the handshake.
        """
        call = self._call(incoming, 101, trio.current_time())
        try:
            with call.deadline:
                return await self._opened(call, stream, incoming)
            outgoing = problem(_too_late(in_doubt=call.effect_in_flight), call.request_id)
        except Exception as error:
            outgoing = problem_of(error, request_id=call.request_id, route=stream.line)
        self._answers[stream].add(outgoing.status, 0.0)
        return self._finished(call, incoming, outgoing)

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that no declared route takes; the request is counted by its address.

        Args:
            incoming: the request.
            refused: why, such as `RouteNotFound`; a 429 is sent instead if the address has sent too many such requests.
        """
        call = self._call(incoming, 200, trio.current_time())
        try:
            self._gate.count_astray(call)
        except RateLimited as limited:
            refused = limited
        self._unmatched.add(refused.status_hint, 0.0)
        return self._finished(call, incoming, problem(refused, call.request_id))

    def tab(self, peer: str) -> Tab:
        """The account of unsent bytes for a client, for carriers whose server keeps none.

        Args:
            peer: the address at the other end of the connection.
        """
        address = normal(peer)
        counted = address != UNKNOWN and not self._proxies.trusts(address) and self.service.limits.enabled
        return self.service.unsent.tab(rate_key(address) if counted else None)

    def preflight(self, incoming: Incoming, methods: str) -> Outgoing:
        """The response to OPTIONS.

        Args:
            incoming: the request.
            methods: the methods of the route, separated by commas.
        """
        call = self._call(incoming, 204, trio.current_time())
        try:
            self._gate.count_astray(call)
        except RateLimited as limited:
            return self._finished(call, incoming, problem(limited, call.request_id))
        headers: Headers = [(b"allow", methods.encode("ascii"))]
        if incoming.header(b"access-control-request-method") is not None:
            headers += self._cors.preflight(incoming.header(b"origin"), methods)
        return self._finished(call, incoming, Outgoing(204, headers))

    def _call(self, incoming: Incoming, status: int, started: float) -> Call[Parts]:
        given = incoming.header(b"x-request-id")
        if given is not None and _REQUEST_ID.fullmatch(given) is not None:
            request_id = given.decode("ascii")
        else:
            request_id = next(self._ids)
        return Call(
            self.service,
            self.table,
            request_id,
            self._proxies.client(incoming.peer, incoming.headers),
            incoming.headers,
            status=status,
            now_ms=self.service.clock.now_ms(),
            deadline=Deadline(started + self._request_seconds),
        )

    async def _opened(self, call: Call[Parts], stream: Stream, incoming: Incoming) -> Opening:
        if self.service.draining:
            raise Draining
        call.route = stream
        arguments, subprotocol = await self._gate.pass_stream(call, stream, incoming)
        if stream.query is not None:
            arguments["query"] = stream.query.decode(incoming.query)
        call.deadline.move(math.inf)  # a stream has no deadline; its effects have their own
        self._answers[stream].add(101, 0.0)
        headers = self._common(call, incoming)
        return Opening(call, next(self._ids), subprotocol, headers, stream.handler, arguments, stream.greets)

    async def _in_time(self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """The response, or a problem document in its place: a refusal, a fault, or that the time was up."""
        outgoing: Outgoing | None = None
        call.checks, call.route, call.incoming = self._gate, endpoint, incoming
        try:
            with call.deadline:
                outgoing = await self._anywhere(call, endpoint, incoming)
        except Exception as error:
            outgoing = problem_of(error, request_id=call.request_id, route=endpoint.line)
            if outgoing.status == 503 and _has_changed_something(call, endpoint):
                outgoing = problem(_unknown(), call.request_id)
        finally:
            if call.decoding_slot is not None:
                await call.decoding_slot.give_back()
        if outgoing is None:
            in_doubt = call.effect_in_flight or _has_changed_something(call, endpoint)
            return problem(_too_late(in_doubt=in_doubt), call.request_id)
        return outgoing

    async def _anywhere(self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """Answer a request here, or have it answered by the node that owns its actor."""
        others = self.service.others
        if others is None:
            return await self._perform(call, endpoint, incoming)
        if not others.is_sure:
            call.deadline.begin()
            if not await others.wait_sure():
                raise Overloaded
        try:
            return await self._perform(call, endpoint, incoming)
        except Elsewhere as elsewhere:
            if call.times_passed:  # so that whoever waits for it can let go of it, wherever it goes on to
                call.deadline.begin()
            return await answered_elsewhere(others, call, endpoint, incoming, elsewhere)

    async def _perform(self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        if incoming.header(b"content-length") is not None:
            incoming.check_declared_size(self._bounds[endpoint])
        key = incoming.header(b"idempotency-key") if endpoint.keyed else None
        # A repeat under a key is told from another request by its body, also where that means nothing to the handler.
        reads_body = endpoint.body is not None or key is not None
        call.leaves = endpoint in self._left and call.times_passed < PASSED_MAX
        if call.leaves and reads_body:
            call.leaves = _is_here_or_small(incoming)
        try:
            arguments = await self._gate.pass_request(call, endpoint, incoming)
        except Elsewhere:  # the other node does all that follows, with the body as it came
            call.uncounted = endpoint.rate_key is not None and (call.uncounted or not call.times_passed)
            if reads_body:
                call.data = await self._bodies.arrived(call, incoming, self._bounds[endpoint])
            raise
        call.leaves = False
        if endpoint.query is not None:
            arguments["query"] = endpoint.query.decode(incoming.query)
        if reads_body:
            await self._take_body(call, endpoint, incoming, arguments)
        if key is None:
            result = endpoint.handler(call, **arguments)
            if isinstance(result, Ask):
                result = await result
            elif isinstance(result, Coroutine):
                call.deadline.begin()
                result = await result
            return await render(call, endpoint, incoming, result)
        call.deadline.begin()
        return await self._once.answer(call, endpoint, incoming, arguments, key)

    async def _take_body(
        self, call: Call[Parts], endpoint: Endpoint, incoming: Incoming, arguments: dict[str, object]
    ) -> None:
        """Put the body among the arguments, and what has been read of it into the call."""
        bound = self._bounds[endpoint]
        if endpoint.body is BodyPieces:
            call.data = None
            pieces = self._bodies.pieces(call, endpoint, incoming, bound)
            pieces.before_end = partial(self._gate.pass_again, call, endpoint, incoming)
            arguments["body"] = pieces
            return
        if endpoint.body is None:
            call.data = await self._bodies.passed_over(call, incoming, bound)
        else:
            data = call.data = await self._bodies.read(call, endpoint, incoming, bound)
            arguments["body"] = await self._bodies.decode(call, endpoint, data)
        if incoming.whole is None:
            arguments |= await self._gate.pass_again(call, endpoint, incoming)

    def _common(self, call: Call[Parts], incoming: Incoming) -> Headers:
        headers = [(b"x-request-id", call.request_id.encode("ascii")), _NO_SNIFFING]
        if call.decision is not None:
            headers += call.decision.fields()
        if self._cors.origins:
            headers += self._cors.headers(incoming.header(b"origin"))
        return headers

    def _finished(self, call: Call[Parts], incoming: Incoming, outgoing: Outgoing) -> Outgoing:
        headers = outgoing.headers
        if outgoing.status not in {204, 304}:
            headers.append((b"content-length", b"%d" % outgoing.length_bytes))
        if outgoing.header(b"cache-control") is None:
            headers.append(_NO_STORE)
        headers += self._common(call, incoming)
        if incoming.method == "HEAD":
            outgoing.body = b""
        return outgoing


def _too_late(*, in_doubt: bool) -> Refused:
    return _unknown() if in_doubt else Overloaded("this took too long; nothing has changed")


def _has_changed_something(call: Call[Parts], endpoint: Endpoint) -> bool:
    """Whether a request that cannot be answered now has had its effect all the same: what it reads for its answer came
    after that. A second effect is begun once the first is committed."""
    committed = call.effects - call.effect_in_flight
    return committed > 0 and endpoint.method not in READING


def _unknown() -> Refused:
    return DatabaseDown("the outcome is unknown; repeat the request with the same key", outcome="unknown")


def _can_be_left(endpoint: Endpoint, body_bound: int) -> bool:
    """Whether a guard may have its requests passed on: they change something, are counted before it, and their body is
    not read by the handler. Large bodies stay here: a link may not take them.
    """
    if endpoint.guard is None or endpoint.method in READING or endpoint.body is BodyPieces:
        return False
    is_counted = endpoint.rate_key is None or endpoint.rate.outer is not None
    return is_counted and body_bound <= JSON_MAX_BYTES


def _is_here_or_small(incoming: Incoming) -> bool:
    """Whether a body has come with the head, or is small and on its way, without being invited."""
    if incoming.whole is not None:
        return True
    is_sent = incoming.header(b"content-length") is not None and incoming.header(b"expect") is None
    return is_sent and incoming.declared_bytes(otherwise=0) <= OFFLOAD_BYTES
