"""Requests that another node answers: what travels there, and who carries it (`elsewhere.py` hands it over)."""

from typing import Protocol

import msgspec

from routes.edge.incoming import Incoming
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

    def incoming(self) -> Incoming:
        """The request as the pipeline takes it."""
        return Incoming(
            self.method,
            self.path,
            self.parameters,
            query=self.query,
            headers=self.headers,
            peer=self.client_address,
            receive=_nothing_more,
            whole=self.body,
        )


class Others(Protocol):
    """The other nodes, as the edge knows them."""

    @property
    def is_sure(self) -> bool:
        """Whether this node may answer: nobody can have taken its place meanwhile."""
        ...

    async def pass_on(self, node: str, request: Passed, seconds: float) -> Outgoing:
        """Have a node answer a request.

        Args:
            node: its name.
            request: whole.
            seconds: how long it may take, not counting what the request says it waits for.

        Raises:
            Overloaded: the node was not asked, because it is not heard or too much waits for it.
            OutcomeUnknown: it was asked, and there is no answer.

        Cancellation: the node is told; an effect may have happened.
        """
        ...


async def _nothing_more() -> tuple[bytes, bool]:
    return b"", False
