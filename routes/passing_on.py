"""Carries requests between nodes: those of this node's clients that other nodes answer, and the other way round.

    topic          body                            then
    request        number, `Passed`                answered here by the edge's pipeline
    response       number, status, headers, body   the client is answered
    client gone    number                          the client has gone: a request that only waits for an event ends
    let go         number                          no node waits for the answer: a request that waits for anything ends

The link keeps all of these until they have arrived, so that a request is done once, unless its node is gone. An answer
is passed on only if it fits one entry of a link (`ENTRY_BYTES`), as the largest page does (`actors/pages.py`).
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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
from routes.edge.incoming import FarEnd
from routes.edge.outgoing import Headers, Outgoing
from routes.edge.pipeline.passing import FarClient, Passed
from routes.task_pool import TaskPool

REQUEST, RESPONSE, GONE, LET_GO = "request", "response", "client gone", "let go"

LONGEST_WAIT_SECONDS = 65.0
"""A long poll waits for a minute at most (contract §1, Deadlines); its own node bounds it more closely."""

ANSWERED_AT_ONCE = 5_000
"""Most requests of other nodes that are answered at a time."""

log = structlog.get_logger()

REFUSED, UNKNOWN = 0, 1
"""Sent in place of a status: the request was not done, or it is not known whether it was."""

LOOK_SECONDS = 1.0
"""How often requests are looked for whose time is over, or whose client has to be watched."""

Answers = Callable[[Passed, Deadline, FarClient], Awaitable[Outgoing]]


class _Request(msgspec.Struct, frozen=True, array_like=True):
    number: int
    request: Passed


class _Response(msgspec.Struct, frozen=True, array_like=True):
    number: int
    status: int
    headers: Headers
    body: bytes


@dataclass(slots=True, eq=False)
class _Pending:
    """A request that another node answers.

    Args:
        node: the other node's name.
        waiter: woken with the response, or with None when there is none.
        until: when the wait for the response ends, on trio's clock.
        far_end: tells whether the client is still there; None where nothing can tell.
        watch: the scope of the task that watches for the client to go; None for a request that does not take long.
    """

    node: str
    waiter: OneShot[_Response | None]
    until: float
    far_end: FarEnd | None
    watch: trio.CancelScope | None = None


class _Answering(NamedTuple):
    """A request of another node that is answered here, and the client that waits for it there."""

    deadline: Deadline
    client: FarClient

    def let_go(self) -> None:
        """Stop waiting for anything, because the other node does not wait for the answer any more."""
        self.client.leave()
        self.deadline.expire()


_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(_Request).decode
_response = msgspec.msgpack.Decoder(_Response).decode


class PassingOn:
    """Passes requests on from this node to others, and answers those that others pass on to this node.

    Args:
        membership: this node among others.
        spawn: starts a task that ends with the node.
    """

    def __init__(self, membership: Membership, spawn: Callable[..., object]) -> None:
        self._peers = membership.peers
        self._where = membership.where
        self._own = membership.life.node
        self._spawn = spawn
        self._tasks = TaskPool("answering another node", spawn)
        self._answers: Answers | None = None
        self._numbers = membership.life.numbers()
        self._pending: dict[int, _Pending] = {}
        self._is_looked_after = False
        self._answering: dict[tuple[Life | None, int], _Answering] = {}  # by who asks, and its number
        self.passed = self.answered = 0
        """Requests that other nodes have answered, and those of others that were answered here."""
        peers = self._peers
        peers.hear_topic(REQUEST, self._hear_request)
        peers.hear_topic(RESPONSE, self._hear_response)
        peers.hear_topic(GONE, self._hear_gone)
        peers.hear_topic(LET_GO, self._hear_let_go)
        peers.on_parted(self._parted)

    def serve(self, answers: Answers) -> None:
        """Have requests of other nodes answered from now on; until then they are refused."""
        self._answers = answers

    @property
    def is_sure(self) -> bool:
        """Whether this node may answer, because no other node can have taken over its shards meanwhile."""
        return self._where.is_sure()

    async def wait_sure(self) -> bool:
        """As `is_sure`, once this node has been a member again if it just stood still. Cancellation ends the wait."""
        return await self._where.wait_sure()

    async def pass_on(self, node: str, request: Passed, seconds: float, far_end: FarEnd | None) -> Outgoing:
        """Have a node answer a request.

        Args:
            node: the node's name.
            request: the whole request.
            seconds: how long the answer may take, not counting how long the request asks to wait for an event.
            far_end: tells whether the client is still there; the node is told when it has gone.

        Raises:
            Overloaded: the node was not asked, because it is not heard or too much waits for it; nothing has changed.
            OutcomeUnknown: the node was asked and has not answered.

        Cancellation: the node is told; an effect may have happened.
        """
        number = next(self._numbers)
        waiter: OneShot[_Response | None] = OneShot()
        if not self._peers.call(node, Said(REQUEST, _encode(_Request(number, request)))):
            raise Overloaded
        until = trio.current_time() + seconds + LONGEST_WAIT_SECONDS
        pending = self._pending[number] = _Pending(node, waiter, until, far_end)
        answer = None
        try:
            if not self._is_looked_after:
                self._spawn(self._look_after)
                self._is_looked_after = True
            answer = await waiter.wait()
        finally:
            del self._pending[number]
            if pending.watch is not None:
                pending.watch.cancel()
            if answer is None:
                self._peers.say(node, LET_GO, _encode(number))
        self.passed += 1
        if answer is None or answer.status == UNKNOWN:
            raise OutcomeUnknown(f"no answer from node {node}")
        if answer.status == REFUSED:
            raise Overloaded
        return Outgoing(answer.status, answer.headers, answer.body)

    async def _look_after(self) -> None:
        """End the wait of requests whose time is over, and watch the clients of requests that take long, until no
        request waits. One task looks after all, since a cancel scope and a task for each would cost more.
        """
        try:
            while self._pending:
                await trio.sleep(LOOK_SECONDS)
                now = trio.current_time()
                for number, pending in self._pending.items():
                    if pending.until <= now:
                        pending.waiter.wake(None)
                    elif pending.far_end is not None and pending.watch is None:
                        pending.watch = trio.CancelScope()
                        self._spawn(self._watch, number, pending, pending.far_end, pending.watch)
        finally:
            self._is_looked_after = False

    async def _watch(
        self, number: int, pending: _Pending, far_end: FarEnd, while_pending: trio.CancelScope
    ) -> None:
        """Tell the node that answers a request when its client has gone."""
        with while_pending:
            if number in self._pending:  # else its connection is somebody else's to read
                await far_end.until_gone()
                self._peers.say(pending.node, GONE, _encode(number))

    @property
    def waiting(self) -> int:
        """How many requests of this node's clients other nodes are answering."""
        return len(self._pending)

    @property
    def is_idle(self) -> bool:
        """Whether no request of another node is being answered here, and none of this node's clients elsewhere."""
        return not (self._answering or self._pending)

    # -- for the others -----------------------------------------------------------------------------

    def _hear_request(self, node: str, body: bytes) -> None:
        asked = _request(body)
        request = asked.request
        if self._where.fences.get(request.shard) != request.fence:
            self._where.learn({request.shard: Lease(self._own, request.fence)})
        asker = self._peers.life(node)
        deadline = Deadline(trio.current_time() + request.left_ms / 1000)
        answering = self._answering[asker, asked.number] = _Answering(deadline, FarClient())
        self._tasks.start(self._answer, asker, asked, answering)

    async def _answer(self, asker: Life | None, asked: _Request, answering: _Answering) -> None:
        try:
            if self._answers is None or len(self._answering) > ANSWERED_AT_ONCE:
                self.answered += 1
                self._say_instead(asker, asked.number, REFUSED)
                return
            outgoing = await self._answers(asked.request, *answering)
            if answering.deadline.has_expired:
                return  # nobody waits for it any more
            self.answered += 1
            data = answer_of(asked.number, outgoing)
            del outgoing  # its bytes are in `data`, which may wait
            if data is None or self._peers.is_too_large(data):
                log.error("an answer cannot be passed on", line=asked.request.line)
                self._say_instead(asker, asked.number, UNKNOWN)
            elif (
                asker is not None
                and self._peers.lives(asker)
                and not self._peers.answers.say(asker.node, data)
            ):
                await self._answer_later(asker, asked.number, answering, data)
        finally:
            self._answering.pop((asker, asked.number), None)

    async def _answer_later(self, asker: Life, number: int, answering: _Answering, data: bytes) -> None:
        """Answer once the link has room, within the request's deadline and while somebody waits.

        Args:
            answering: the request, the scope of whose deadline was left together with the handler.
            data: the encoded answer.
        """
        is_said = False
        deadline = Deadline(answering.deadline.at)
        self._answering[asker, number] = answering._replace(deadline=deadline)
        with deadline:
            deadline.begin()
            is_said = await self._peers.answers.wait_to_say(asker.node, data)
        if not (is_said or deadline.has_expired):
            self._say_instead(asker, number, UNKNOWN)

    def _say_instead(self, asker: Life | None, number: int, status: int) -> None:
        """Say in place of an answer that there is none; so short that it need not wait for room."""
        if asker is not None and self._peers.lives(asker):
            self._peers.say(asker.node, RESPONSE, _encode(_Response(number, status, [], b"")))

    def _hear_response(self, _node: str, body: bytes) -> None:
        answer = _response(body)
        pending = self._pending.get(answer.number)
        if pending is not None:
            pending.waiter.wake(answer)

    def _hear_gone(self, node: str, body: bytes) -> None:
        answering = self._answered_for(node, body)
        if answering is not None:
            answering.client.leave()

    def _hear_let_go(self, node: str, body: bytes) -> None:
        answering = self._answered_for(node, body)
        if answering is not None:
            answering.let_go()

    def _answered_for(self, node: str, body: bytes) -> _Answering | None:
        asker = self._peers.life(node)
        return self._answering.get((asker, msgspec.msgpack.decode(body, type=int)))

    def _parted(self, node: str) -> None:
        for pending in self._pending.values():
            if pending.node == node:
                pending.waiter.wake(None)
        for (asker, _), answering in self._answering.items():
            if asker is not None and asker.node == node:
                answering.let_go()


def answer_of(number: int, outgoing: Outgoing) -> bytes | None:
    """The entry that carries an answer, encoded; None where its body is a file.

    Args:
        number: the number of the request.
        outgoing: the answer.
    """
    if not isinstance(outgoing.body, bytes):
        return None
    return encode(
        Said(RESPONSE, _encode(_Response(number, outgoing.status, outgoing.headers, outgoing.body)))
    )
