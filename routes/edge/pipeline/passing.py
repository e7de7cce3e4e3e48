"""Requests that another node answers: what travels there, and who carries it (`elsewhere.py` hands it over)."""

from typing import Protocol

import msgspec
import trio

from routes.edge.incoming import FarEnd, Incoming
from routes.edge.outgoing import Headers, Outgoing


class Passed(msgspec.Struct, frozen=True, array_like=True):
    """A request on its way to another node.

    Args:
        line: of its route, method and path.
        method: HEAD for some that are declared GET.
        path: decoded, without the query.
        parameters: {camelCase name: text} of the path.
        query: the raw text after the `?`.
        headers: (lower-case name, value).
        body: whole.
        client_address: normalised, as this node sees it.
        request_id: as in X-Request-Id.
        left_ms: how long it may still take, not counting what it says it waits for.
        times: how often it has been passed on.
        shard: of the owner.
        fence: under which the receiver owns it, as the sender knows.
        uncounted: the receiver is to count it by its subject, where the route's rate has one.
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
            far_end: of the client, as far as the other node tells.
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
    """The client of another node that waits for the answer of this one; implements `FarEnd`.

    Attributes:
        is_gone: the other node has said so.
    """

    __slots__ = ("_left", "is_gone")

    def __init__(self) -> None:
        self.is_gone = False
        self._left: trio.Event | None = None  # made by who waits for it: most requests wait for nothing

    def leave(self) -> None:
        """The client has gone, or its node."""
        self.is_gone = True
        if self._left is not None:
            self._left.set()

    async def until_gone(self) -> None:
        """See `FarEnd`. Cancellation changes nothing."""
        if not self.is_gone:
            self._left = trio.Event()
            await self._left.wait()


class Others(Protocol):
    """The other nodes, as the edge knows them."""

    @property
    def is_sure(self) -> bool:
        """Whether this node may answer: nobody can have taken its place meanwhile."""
        ...

    async def pass_on(self, node: str, request: Passed, seconds: float, far_end: FarEnd | None) -> Outgoing:
        """Have a node answer a request.

        Args:
            node: its name.
            request: whole.
            far_end: of the client; the node is told when it has gone.
            seconds: how long it may take, not counting what the request says it waits for.

        Raises:
            Overloaded: the node was not asked, because it is not heard or too much waits for it.
            OutcomeUnknown: it was asked, and there is no answer.

        Cancellation: the node is told; an effect may have happened.
        """
        ...


async def _nothing_more() -> tuple[bytes, bool]:
    return b"", False
