"""Requests between nodes: those of this node's clients that others answer, and those of others that this one answers.

    topic          body                            then
    request        number, `Passed`                answered here by the edge's pipeline
    response       number, status, headers, body   the client is answered
    let go         number                          the client has gone: what waits for it ends

All of them are kept by the link, so that a request is done once, or its node is gone. An answer is passed on if a link
takes it in one entry (`ENTRY_BYTES`), as it does the largest page (`actors/pages.py`).
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec
import structlog
import trio

from actors.errors import Overloaded
from actors.kernel.nodes.entries import Said, encode
from actors.kernel.nodes.link import Life
from actors.kernel.nodes.membership import Membership
from actors.kernel.one_shot import OneShot
from persistence.errors import OutcomeUnknown
from persistence.nodes.members import Lease
from routes.edge.deadline import Deadline
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.passing import Passed

REQUEST, RESPONSE, LET_GO = "request", "response", "let go"

LONGEST_WAIT_SECONDS = 65.0
"""A long poll waits for a minute at most (contract §1, Deadlines); its own node bounds it more closely."""

ANSWERED_AT_ONCE = 5_000
"""Most requests of other nodes that are answered at a time."""

log = structlog.get_logger()

REFUSED, UNKNOWN = 0, 1
"""In place of a status: nothing was done, or that cannot be said."""

LOOK_SECONDS = 1.0
"""How often those are looked for who have waited for too long."""

Answers = Callable[[Passed, Deadline], Awaitable[Outgoing]]


class _Request(msgspec.Struct, frozen=True, array_like=True):
    number: int
    request: Passed


class _Response(msgspec.Struct, frozen=True, array_like=True):
    number: int
    status: int
    headers: Headers
    body: bytes


class _Pending(NamedTuple):
    """A request that another node answers.

    Args:
        node: its name.
        waiter: whoever has passed it on; woken with None when there is no answer.
        until: when that one gives up, on trio's clock.
    """

    node: str
    waiter: OneShot[_Response | None]
    until: float


_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(_Request).decode
_response = msgspec.msgpack.Decoder(_Response).decode


class PassingOn:
    """The way of requests from this node to others, and from others to this one.

    Args:
        membership: this node among others.
        spawn: starts a task that ends with the node.
    """

    def __init__(self, membership: Membership, spawn: Callable[..., object]) -> None:
        self._membership = membership
        self._spawn = spawn
        self._answers: Answers | None = None
        self._numbers = membership.life.numbers()
        self._pending: dict[int, _Pending] = {}
        self._is_looked_after = False
        self._answering: dict[tuple[Life | None, int], Deadline] = {}  # by who asks, and its number
        self.passed = self.answered = 0
        """Requests that other nodes have answered, and those of others that were answered here."""
        peers = membership.peers
        peers.hear_topic(REQUEST, self._hear_request)
        peers.hear_topic(RESPONSE, self._hear_response)
        peers.hear_topic(LET_GO, self._hear_let_go)
        peers.on_parted(self._parted)

    def serve(self, answers: Answers) -> None:
        """Have requests of other nodes answered from now on; until then they are refused."""
        self._answers = answers

    @property
    def is_sure(self) -> bool:
        """Whether this node may answer: nobody can have taken its place meanwhile."""
        return self._membership.is_sure

    async def pass_on(self, node: str, request: Passed, seconds: float) -> Outgoing:
        """Have a node answer a request.

        Args:
            node: its name.
            request: whole.
            seconds: how long it may take, not counting what the request says it waits for.

        Raises:
            Overloaded: the node was not asked, because it is not heard or too much waits for it; nothing has changed.
            OutcomeUnknown: it was asked, and there is no answer.

        Cancellation: the node is told; an effect may have happened.
        """
        number = next(self._numbers)
        waiter: OneShot[_Response | None] = OneShot()
        peers = self._membership.peers
        if not peers.call(node, Said(REQUEST, _encode(_Request(number, request)))):
            raise Overloaded
        until = trio.current_time() + seconds + LONGEST_WAIT_SECONDS
        self._pending[number] = _Pending(node, waiter, until)
        answer = None
        try:
            if not self._is_looked_after:
                self._spawn(self._look_after)
                self._is_looked_after = True
            answer = await waiter.wait()
        finally:
            del self._pending[number]
            if answer is None:
                peers.say(node, LET_GO, _encode(number))
        self.passed += 1
        if answer is None or answer.status == UNKNOWN:
            raise OutcomeUnknown(f"no answer from node {node}")
        if answer.status == REFUSED:
            raise Overloaded
        return Outgoing(answer.status, answer.headers, answer.body)

    async def _look_after(self) -> None:
        """End the wait of those whose time is over, until nobody waits: a cancel scope for each would cost more."""
        try:
            while self._pending:
                await trio.sleep(LOOK_SECONDS)
                now = trio.current_time()
                for pending in self._pending.values():
                    if pending.until <= now:
                        pending.waiter.wake(None)
        finally:
            self._is_looked_after = False

    @property
    def waiting(self) -> int:
        """How many requests of this node's clients others are answering."""
        return len(self._pending)

    @property
    def is_idle(self) -> bool:
        """Whether no request of another node is being answered here, and none of this node's clients elsewhere."""
        return not (self._answering or self._pending)

    # -- for the others -----------------------------------------------------------------------------

    def _hear_request(self, node: str, body: bytes) -> None:
        asked = _request(body)
        request = asked.request
        own = self._membership.life.node
        self._membership.where.learn({request.shard: Lease(own, request.fence)})
        asker = self._membership.peers.life(node)
        deadline = Deadline(trio.current_time() + request.left_ms / 1000)
        self._answering[asker, asked.number] = deadline
        self._spawn(self._answer, asker, asked, deadline)

    async def _answer(self, asker: Life | None, asked: _Request, deadline: Deadline) -> None:
        try:
            if self._answers is None or len(self._answering) > ANSWERED_AT_ONCE:
                self.answered += 1
                self._say_instead(asker, asked.number, REFUSED)
                return
            outgoing = await self._answers(asked.request, deadline)
            if deadline.has_expired:
                return  # nobody waits for it any more
            self.answered += 1
            peers = self._membership.peers
            data = answer_of(asked.number, outgoing)
            del outgoing  # its bytes are in `data`, which may wait
            if data is None or peers.is_too_large(data):
                log.error("an answer cannot be passed on", line=asked.request.line)
                self._say_instead(asker, asked.number, UNKNOWN)
            elif asker is not None and self._lives(asker) and not peers.answers.say(asker.node, data):
                await self._answer_later(asker, asked.number, deadline.at, data)
        finally:
            self._answering.pop((asker, asked.number), None)

    async def _answer_later(self, asker: Life, number: int, at: float, data: bytes) -> None:
        """Answer once the link has room, within the request's deadline and while somebody waits.

        Args:
            at: the deadline, on trio's clock; its own scope was left with the handler.
            data: the answer.
        """
        is_said = False
        deadline = self._answering[asker, number] = Deadline(at)
        with deadline:
            deadline.begin()
            is_said = await self._membership.peers.answers.wait_to_say(asker.node, data)
        if not (is_said or deadline.has_expired):
            self._say_instead(asker, number, UNKNOWN)

    def _lives(self, asker: Life) -> bool:
        """Whether the life that has asked is still there: the next one of its node does not wait for an answer."""
        return self._membership.peers.life(asker.node) == asker

    def _say_instead(self, asker: Life | None, number: int, status: int) -> None:
        """Say in place of an answer that there is none; so little that it need not wait."""
        if asker is not None and self._lives(asker):
            self._membership.peers.say(asker.node, RESPONSE, _encode(_Response(number, status, [], b"")))

    def _hear_response(self, _node: str, body: bytes) -> None:
        answer = _response(body)
        pending = self._pending.get(answer.number)
        if pending is not None:
            pending.waiter.wake(answer)

    def _hear_let_go(self, node: str, body: bytes) -> None:
        asker = self._membership.peers.life(node)
        deadline = self._answering.get((asker, msgspec.msgpack.decode(body, type=int)))
        if deadline is not None:
            deadline.expire()

    def _parted(self, node: str) -> None:
        for pending in self._pending.values():
            if pending.node == node:
                pending.waiter.wake(None)
        for (asker, _), deadline in self._answering.items():
            if asker is not None and asker.node == node:
                deadline.expire()


def answer_of(number: int, outgoing: Outgoing) -> bytes | None:
    """The entry that carries an answer, encoded; None where its body is a file.

    Args:
        number: of the request.
        outgoing: the answer.
    """
    if not isinstance(outgoing.body, bytes):
        return None
    return encode(
        Said(RESPONSE, _encode(_Response(number, outgoing.status, outgoing.headers, outgoing.body)))
    )
