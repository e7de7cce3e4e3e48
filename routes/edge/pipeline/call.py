"""What a handler is given in place of a request: who calls, and the two ways to have an effect.

`ask` and `transact` are the only places where a handler's effect meets its Idempotency-Key: they hand the
encoded answer down, so that it commits together with the effect.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import trio

from actors.ids import ObjectId, UserId
from actors.kernel.kind import Kind
from persistence.connection import Connection
from persistence.journal import receipts
from persistence.journal.turn import Receipt
from routes.edge.deadline import Deadline
from routes.edge.limits import Decision
from routes.edge.outgoing import Headers
from routes.edge.pipeline.idempotency import Attempt
from routes.edge.pipeline.large_bodies import DecodingSlot
from routes.edge.pipeline.parts import Parts
from routes.edge.principal import Principal, ServerPrincipal, UserPrincipal
from routes.edge.reply import Ask, Reply
from routes.edge.wire import encode

if TYPE_CHECKING:
    from routes.edge.declare.endpoint import RouteTable

GRACE_SECONDS = 0.25
"""How much later than its parts a request gives up."""

R = TypeVar("R")
T = TypeVar("T")
P_co = TypeVar("P_co", bound=Parts, covariant=True)
State = TypeVar("State")
Command = TypeVar("Command")


class Call(Generic[P_co]):
    """One request or stream, as it passes the checks and as its handler sees it.

    Args:
        service: everything that is open.
        table: everything that is declared.
        request_id: as in X-Request-Id.
        client_address: normalised; behind trusted proxies the client's own.
        headers: (lower-case name, value).
        status: the declared status of a success with a body.
        now_ms: epoch milliseconds at which the request came in.
        deadline: the end of the request's time.
    """

    __slots__ = (
        "attempt",
        "client_address",
        "deadline",
        "decision",
        "effect_in_flight",
        "headers",
        "now_ms",
        "place",
        "principal",
        "request_id",
        "service",
        "status",
        "subject",
        "table",
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
        """Who calls; None on public routes."""
        self.status = status
        self.now_ms = now_ms
        self.subject: Any = None
        """What the endpoint's guard returned."""
        self.decision: Decision | None = None
        """What the caller's rate limit said."""
        self.attempt: Attempt | None = None
        """The request's Idempotency-Key, or None."""
        self.place: DecodingSlot | None = None
        """For a body that is not small, until the request is answered."""
        self.effect_in_flight = False
        """True while an effect is on its way: cut short then, its outcome is unknown."""

    @property
    def user(self) -> UserPrincipal:
        """The calling user, on routes that need one.

        Raises:
            TypeError: the route is declared for others too, and its handler did not ask who calls.
        """
        if not isinstance(self.principal, UserPrincipal):
            raise TypeError("this route has callers that are no users")
        return self.principal

    @property
    def user_id(self) -> UserId:
        """The calling user's id, on routes that need one."""
        return self.user.user_id

    @property
    def server(self) -> ServerPrincipal:
        """The calling game server, on routes that need one.

        Raises:
            TypeError: the route is declared for others too, and its handler did not ask who calls.
        """
        if not isinstance(self.principal, ServerPrincipal):
            raise TypeError("this route has callers that are no servers")
        return self.principal

    def header(self, name: bytes) -> bytes | None:
        """The first value of a request header, or None.

        Args:
            name: in lower case.
        """
        for known, text in self.headers:
            if known == name:
                return text
        return None

    def new_id(self) -> ObjectId:
        """A fresh id of this moment; to be asked in the trio thread."""
        return self.service.ids.new(self.now_ms)

    def wait_longer(self, seconds: float) -> None:
        """Put the request's deadline off: a long poll adds its own `wait` (contract §1, Deadlines).

        Args:
            seconds: at least 0.
        """
        self.deadline.move(self.deadline.at + seconds)

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
        """Ask an owner, and give its answer the shape that the handler returns.

        To be awaited, or returned by the handler: a request that does nothing else ends by the kernel's deadline,
        and pays for none of its own (10 µs of 60 for a message).

        With an Idempotency-Key, what `shape` makes is stored in the turn's transaction: it must be what the
        handler returns. Cut short while the turn is on its way, the turn goes on without its caller.

        Args:
            kind: of the owner.
            id: of the owner.
            command: one of the kind's commands.
            shape: the actor's answer as struct, `Reply`, `Encoded` or None; pure, as it runs inside the turn.

        Raises:
            Refused: a rule said no.
            PersistenceError: the change could not be committed, or its outcome is unknown.
        """
        return Ask(self._ask(kind, id, command, shape))

    async def _ask(
        self, kind: Kind[State, Command], id: str, command: Command, shape: Callable[[Any], Any]
    ) -> Any:
        attempt = self._first_effect()
        self._begin_effect()
        if attempt is None:
            reply = await self.service.system.ask(kind, id, command)
            self.effect_in_flight = False
            return shape(reply)
        shaped: list[object] = []

        def keep(attempt: Attempt, reply: object) -> Receipt:
            shaped[:] = [shape(reply)]
            return self._receipt(attempt, shaped[0])

        reply = await self.service.system.ask(kind, id, command, receipt=partial(keep, attempt))
        self.effect_in_flight = False
        # A command that changed nothing makes no turn, and so no receipt: repeating it changes nothing
        # either.
        return shaped[0] if shaped else shape(reply)

    @overload
    async def transact(self, unit: Callable[..., Awaitable[T]], *args: object) -> T: ...

    @overload
    async def transact(
        self, unit: Callable[..., Awaitable[R]], *args: object, shape: Callable[[R], T]
    ) -> T: ...

    async def transact(
        self,
        unit: Callable[..., Awaitable[Any]],
        *args: object,
        shape: Callable[[Any], Any] = lambda result: result,
    ) -> Any:
        """Run a unit of work in one transaction, and give its result the shape that the handler returns.

        With an Idempotency-Key, what `shape` makes is stored in the same transaction.

        Cancellation before COMMIT was sent undoes everything; after it the outcome is unknown.

        Args:
            unit: `async def unit(conn, *args)`; runs on the bridge's thread.
            args: for the unit.
            shape: as in `ask`; runs on the bridge's thread too.

        Raises:
            Refused: the unit said no; nothing has changed.
            PersistenceError: as `ask`.
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
        """From here on an effect is on its way; returns the seconds that it has.

        Kernel and database have deadlines of their own, and at theirs they know whether anything was changed.
        So the request's waits a little longer than theirs; should it come first nevertheless, `effect_in_flight`
        is still set, and the outcome counts as unknown.
        """
        self.effect_in_flight = True
        # On a stream nothing else bounds an effect.
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
        status, body = self.status, result
        if isinstance(result, Reply):
            status, body = result.status or status, result.value
        if body is None:
            return attempt.receipt(204, b"")
        return attempt.receipt(status, encode(body))
