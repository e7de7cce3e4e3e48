"""The object that a handler is given for its request: the caller, and the two ways to have an effect.

`ask` and `transact` are the only places where an effect meets the request's Idempotency-Key: they pass the encoded
answer down, so that it commits together with the effect.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, TypeVarTuple, overload

import trio

from actors.ids import ObjectId, UserId
from actors.kernel.kind import Kind
from persistence.connection import Connection, Unit
from persistence.journal import receipts
from persistence.journal.turn import Receipt
from routes.edge.deadline import Deadline
from routes.edge.declare.route import Route
from routes.edge.incoming import Incoming
from routes.edge.limits import Decision
from routes.edge.outgoing import Headers
from routes.edge.pipeline.idempotency import Attempt
from routes.edge.pipeline.large_bodies import DecodingSlot
from routes.edge.pipeline.long_poll import Checks, while_there
from routes.edge.pipeline.parts import Parts
from routes.edge.principal import PUBLIC, Needs, Principal, ServerPrincipal, UserPrincipal
from routes.edge.reply import Ask, Reply
from routes.edge.wire import encode

if TYPE_CHECKING:
    from routes.edge.declare.mounts import RouteTable

GRACE_SECONDS = 0.25
"""Added to the request's deadline once an effect is in flight, so that kernel and database, whose deadlines know the
outcome, expire first."""

R = TypeVar("R")
T = TypeVar("T")
Args = TypeVarTuple("Args")
P_co = TypeVar("P_co", bound=Parts, covariant=True)
State = TypeVar("State")
Command = TypeVar("Command")


class Call(Generic[P_co]):
    """One request or stream, as it passes the checks and as its handler sees it.

    Args:
        service: the parts of the service.
        table: the declared routes.
        request_id: the request's id, as in X-Request-Id.
        client_address: the client's normalised IP address, also behind trusted proxies.
        headers: (lower-case name, value).
        status: the declared status of a success with a body.
        now_ms: epoch milliseconds at which the request arrived, or its caller was checked again.
        deadline: the request's deadline.
    """

    __slots__ = (
        "attempt",
        "checks",
        "client_address",
        "data",
        "deadline",
        "decision",
        "decoding_slot",
        "effect_in_flight",
        "effects",
        "headers",
        "incoming",
        "leaves",
        "now_ms",
        "principal",
        "request_id",
        "route",
        "service",
        "status",
        "subject",
        "table",
        "times_passed",
        "uncounted",
        "until",
    )

    def __init__(
        self,
        service: P_co,
        table: "RouteTable",
        request_id: str,
        client_address: str,
        headers: Headers,
        *,
        status: int,
        now_ms: int,
        deadline: Deadline,
    ) -> None:
        self.service = service
        self.table = table
        self.deadline = deadline
        self.request_id = request_id
        self.client_address = client_address
        self.headers = headers
        self.principal: Principal | None = None
        """The authenticated caller; None on public routes."""
        self.status = status
        self.now_ms = now_ms
        self.subject: Any = None
        """What the endpoint's guard returned."""
        self.decision: Decision | None = None
        """What the caller's rate limit decided, for the response's headers."""
        self.attempt: Attempt | None = None
        """The request's Idempotency-Key, or None."""
        self.decoding_slot: DecodingSlot | None = None
        """The slot that a body that is not small holds until the request is answered, or None."""
        self.effect_in_flight = False
        """True from the start of an effect until its outcome is known."""
        self.effects = 0
        """How many effects have been begun."""
        self.data: bytes | None = b""
        """The whole body as it came; None where the handler reads it."""
        self.leaves = False
        """Whether `peek` passes the request on to the owner's node rather than have its guard read rows here."""
        self.times_passed = 0
        """How often the request was passed on by another node; 0 for one that has come in here."""
        self.until = deadline.at
        """The deadline before the handler has moved it: the arrival of the body does not count."""
        self.uncounted = False
        """Whether the owner's node has yet to count the request by its subject, because a guard has left that to it."""
        self.route: Route | None = None
        """Its route; None where none was found."""
        self.checks: Checks | None = None
        """What it passes, as a request that came as `incoming`; both None for a stream."""
        self.incoming: Incoming | None = None

    @property
    def user(self) -> UserPrincipal:
        """The calling user, on routes that admit users only.

        Raises:
            TypeError: the caller is not a user; a handler that others may call has to check `principal` first.
        """
        if not isinstance(self.principal, UserPrincipal):
            raise TypeError("this route has callers that are no users")
        return self.principal

    @property
    def user_id(self) -> UserId:
        """The calling user's id; raises TypeError as `user` does."""
        return self.user.user_id

    @property
    def server(self) -> ServerPrincipal:
        """The calling game server, on routes that admit servers only.

        Raises:
            TypeError: the caller is not a server; a handler that others may call has to check `principal` first.
        """
        if not isinstance(self.principal, ServerPrincipal):
            raise TypeError("this route has callers that are no servers")
        return self.principal

    @property
    def needs(self) -> Needs:
        """What the route needs of users; `PUBLIC` where none was found."""
        return PUBLIC if self.route is None else self.route.needs

    @property
    def client_is_gone(self) -> bool:
        """Whether it is known that the client has gone, so that nothing that can be given only once is given to it."""
        return self.incoming is not None and self.incoming.client_is_gone

    @property
    def is_head(self) -> bool:
        """Whether the answer is sent without its body (RFC 9110 §9.3.2): the handler of GET answers HEAD as well."""
        return self.incoming is not None and self.incoming.method == "HEAD"

    def header(self, name: bytes) -> bytes | None:
        """The first value of a request header, or None.

        Args:
            name: the header's name in lower case.
        """
        for known, text in self.headers:
            if known == name:
                return text
        return None

    @property
    def may_be_a_repeat(self) -> bool:
        """Whether the request has an Idempotency-Key, so that its effect may have happened already.

        Guards run before kept answers are looked for. Where the effect itself ends the right that a guard checks, the
        guard asks less of such a request, and leaves the right to the turn or transaction.
        """
        return self.header(b"idempotency-key") is not None

    def new_id(self) -> ObjectId:
        """A new object id with the request's time; to be called in the trio thread."""
        return self.service.ids.new(self.now_ms)

    def wait_longer(self, seconds: float) -> None:
        """Extend the request's deadline: a long poll adds its own `wait` (contract §1, Deadlines).

        Args:
            seconds: how much later the deadline is to be, at least 0.
        """
        self.deadline.move(self.deadline.at + seconds)

    async def wait(self, waits: Callable[[float], Awaitable[T]], seconds: float) -> T | None:
        """Wait for an event as long as the client is there, then check the caller again, since credentials, permission
        or membership may have ended meanwhile. Every long poll waits by this, and takes and shows only what it gets
        afterwards.

        Cancellation ends the wait.

        Args:
            waits: `async def waits(seconds)`; waits for at most so long.
            seconds: how long to wait, by which the request's deadline moves too; at least 0.

        Returns:
            What `waits` returns; None where the client has gone before (`client_is_gone`).

        Raises:
            Refused: by the first check that fails.
            PersistenceError: what a check needs is not in memory and cannot be read.
            RuntimeError: the call is a stream's; its socket ends by itself with the credentials that have opened it.
            What `waits` raises.
        """
        checks, route, incoming = self.checks, self.route, self.incoming
        if checks is None or route is None or incoming is None:
            raise RuntimeError("a stream is no long poll")
        self.wait_longer(seconds)
        happened = await while_there(incoming.far_end, waits, seconds)
        await checks.pass_again(self, route, incoming)
        return happened

    def peek(self, kind: Kind[State, Any], id: str) -> State | None:
        """The committed state of an actor in memory, for a guard; None where the guard has to read rows.

        If the actor is on another node, and the request changes something, no rows are read: the request is passed on
        to that node, whose guard has the actor in memory. Guard and handler must concern the same actor, since a
        request is passed on twice at most.

        Raises:
            Elsewhere: the request is to be passed on, which the edge does.
        """
        system = self.service.system
        state = system.peek(kind, id)
        if state is None and self.leaves:
            system.routing.leave(kind, id)
        return state

    async def go_to(self, kind: Kind[Any, Any], id: str) -> None:
        """Have the request answered by the node that owns an actor, because the request waits for what happens there.

        Does nothing where that is this node. Cancellation ends the wait for an actor that is moving to a node.

        Raises:
            Elsewhere: another node owns the actor; the edge passes the request on.
            Overloaded: no node owns the actor at this moment.
        """
        await self.service.system.routing.go_to(kind, id)

    @overload
    def ask(self, kind: Kind[State, Command], id: str, command: Command) -> Ask[Any]: ...

    @overload
    def ask(
        self, kind: Kind[State, Command], id: str, command: Command, shape: Callable[[R], T]
    ) -> Ask[T]: ...

    def ask(
        self,
        kind: Kind[State, Command],
        id: str,
        command: Command,
        shape: Callable[[Any], Any] = lambda reply: reply,
    ) -> Ask[Any]:
        """Send a command to an actor; `shape` turns its reply into the handler's result.

        The result is awaited, or returned by the handler. Returning it is cheaper: a request that does nothing else
        is bounded by the kernel's deadline and enters no cancel scope of its own (10 µs of 60 for a message). With an
        Idempotency-Key the shaped reply is stored in the turn's transaction, so it must be what the handler returns.

        Cancellation: a turn that has begun goes on and its effect may still happen.

        Args:
            kind: the actor's kind.
            id: the actor's id.
            command: one of the kind's commands.
            shape: turns the actor's reply into a struct, `Reply`, `Encoded` or None; pure, as it runs inside the turn.

        Raises:
            Refused: a rule refuses the command; nothing has changed.
            PersistenceError: the change could not be committed, or its outcome is unknown.
            RuntimeError: the request has an Idempotency-Key and has had an effect already.
        """
        return Ask(self._ask(kind, id, command, shape))

    async def _ask(
        self, kind: Kind[State, Command], id: str, command: Command, shape: Callable[[Any], Any]
    ) -> Any:
        attempt = self._first_effect()
        self._begin_effect()
        # A request that has done nothing yet can be passed on whole to the node that has the owner.
        is_first = self.effects == 1
        if attempt is None:
            reply = await self.service.system.ask(kind, id, command, passed_on=is_first)
            self.effect_in_flight = False
            return shape(reply)
        shaped: list[object] = []

        def keep(attempt: Attempt, reply: object) -> Receipt:
            shaped[:] = [shape(reply)]
            return self._receipt(attempt, shaped[0])

        await self.service.system.ask(kind, id, command, receipt=partial(keep, attempt))
        self.effect_in_flight = False
        # Made with the receipt, before the command is answered, also of one that has changed nothing.
        return shaped[0]

    @overload
    async def transact(self, unit: Unit[*Args, T], *args: *Args) -> T: ...

    @overload
    async def transact(self, unit: Unit[*Args, R], *args: *Args, shape: Callable[[R], T]) -> T: ...

    async def transact(
        self,
        unit: Unit[*Args, Any],
        *args: *Args,
        shape: Callable[[Any], Any] = lambda result: result,
    ) -> Any:
        """Run a unit of work in one transaction; `shape` turns its result into the handler's result.

        With an Idempotency-Key the shaped result is stored in the same transaction, so it must be what the handler
        returns.

        Cancellation: the transaction is rolled back or committed whole, and `effect_in_flight` stays set, because it
        is not known which.

        Args:
            unit: `async def unit(conn, *args)`; runs on the bridge's thread.
            args: the unit's arguments.
            shape: turns the unit's result into a struct, `Reply`, `Encoded` or None; runs on the bridge's thread too.

        Raises:
            Refused: the unit refuses; nothing has changed.
            PersistenceError: the transaction failed, or its outcome is unknown.
            RuntimeError: the request has an Idempotency-Key and has had an effect already.
        """
        attempt = self._first_effect()

        async def with_receipt(conn: Connection) -> object:
            shaped = shape(await unit(conn, *args))
            if attempt is not None:
                await receipts.store(conn, [self._receipt(attempt, shaped)], self.now_ms)
            return shaped

        seconds = self._begin_effect()
        result = await self.service.database.transact(with_receipt, timeout_seconds=seconds)
        self.effect_in_flight = False
        return result

    def _begin_effect(self) -> float:
        """Mark an effect as in flight; returns the seconds that it has.

        Kernel and database have deadlines of their own, and at theirs they know whether anything was changed. So the
        request's deadline is put a little later. If it expires first nevertheless, `effect_in_flight` is still set,
        and the outcome counts as unknown.
        """
        self.effect_in_flight = True
        self.effects += 1
        # A stream has no deadline, so this bounds its effects.
        seconds = self.service.config.request_seconds
        left = min(max(0.0, self.deadline.at - trio.current_time()), seconds)
        self.deadline.move(self.deadline.at + GRACE_SECONDS)
        return left

    def _first_effect(self) -> Attempt | None:
        if self.attempt is not None and self.attempt.kept:
            raise RuntimeError(
                "a request under an Idempotency-Key has one effect: join them in one transaction"
            )
        return self.attempt

    def _receipt(self, attempt: Attempt, result: object) -> Receipt:
        status, body, etag = self.status, result, b""
        if isinstance(result, Reply):
            status, body = result.status or status, result.value
            etag = result.headers.get("etag", "").encode("ascii")
        if body is None:
            return attempt.receipt(204, b"", etag)
        return attempt.receipt(status, encode(body), etag)
