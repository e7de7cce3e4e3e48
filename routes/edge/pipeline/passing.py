"""Requests that another node answers: their form on the way there, and the interface that carries them (`elsewhere.py`
uses it)."""

from typing import Protocol

import msgspec
import trio

from routes.edge.incoming import FarEnd, Incoming
from routes.edge.outgoing import Headers, Outgoing


class Passed(msgspec.Struct, frozen=True, array_like=True):
    """A request on its way to another node.

    Args:
        line: the method and path of its route, as declared.
        method: the request's HTTP method; may be HEAD where the route's is GET.
        path: the decoded path, without the query.
        parameters: {camelCase name: text} of the path's parameters.
        query: the raw text after the `?`.
        headers: (lower-case name, value).
        body: the whole body.
        client_address: the client's normalised IP address, as the sending node sees it.
        request_id: the request's id, as in X-Request-Id.
        left_ms: how long it may still take, not counting how long it asks to wait for an event.
        times: how often it has been passed on.
        shard: the shard of the actor.
        fence: the fence under which the receiver owns the shard, as far as the sender knows.
        uncounted: whether the receiver is to count the request by its subject, where the route's rate has one.
    """

    line: str
    method: str
    path: str
    parameters: dict[str, str]
    query: bytes
    headers: Headers
    body: bytes
    client_address: str
    request_id: str
    left_ms: int
    times: int
    shard: int
    fence: int
    uncounted: bool = False

    def incoming(self, far_end: FarEnd) -> Incoming:
        """The request as the pipeline takes it.

        Args:
            far_end: tells whether the client is still there, as far as the other node says so.
        """
        return Incoming(
            self.method,
            self.path,
            self.parameters,
            query=self.query,
            headers=self.headers,
            peer=self.client_address,
            receive=_nothing_more,
            whole=self.body,
            far_end=far_end,
        )


class FarClient:
    """A client that waits at another node for this node's answer; implements `FarEnd`.

    Attributes:
        is_gone: whether the other node has said that the client has gone.
    """

    __slots__ = ("_left", "is_gone")

    def __init__(self) -> None:
        self.is_gone = False
        self._left: trio.Event | None = None  # made by who waits for it: most requests wait for nothing

    def leave(self) -> None:
        """Record that the client, or its node, has gone."""
        self.is_gone = True
        if self._left is not None:
            self._left.set()

    async def until_gone(self) -> None:
        """Return once the client has gone, as `FarEnd` describes. Cancellation changes nothing."""
        if not self.is_gone:
            self._left = trio.Event()
            await self._left.wait()


class Others(Protocol):
    """The other nodes, as the edge knows them."""

    @property
    def is_sure(self) -> bool:
        """Whether this node may answer, because no other node can have taken over its shards meanwhile."""
        ...

    async def wait_sure(self) -> bool:
        """As `is_sure`, once this node has been a member again if it just stood still. Cancellation ends the wait."""
        ...

    async def pass_on(self, node: str, request: Passed, seconds: float, far_end: FarEnd | None) -> Outgoing:
        """Have a node answer a request.

        Args:
            node: the node's name.
            request: the whole request.
            seconds: how long the answer may take, not counting how long the request asks to wait for an event.
            far_end: tells whether the client is still there; the node is told when it has gone.

        Raises:
            Overloaded: the node was not asked, because it is not heard or too much waits for it.
            OutcomeUnknown: the node was asked and has not answered.

        Cancellation: the node is told; an effect may have happened.
        """
        ...


async def _nothing_more() -> tuple[bytes, bool]:
    return b"", False
