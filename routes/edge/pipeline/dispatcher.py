"""The interface of what answers requests for the declared routes: `Edge`, or a wrapper that observes its requests."""

from typing import Protocol

from actors.errors import Refused
from routes.edge.deadline import Deadline
from routes.edge.declare.mounts import RouteTable
from routes.edge.declare.route import Endpoint, Stream
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.opening import Opening
from routes.edge.pipeline.parts import Parts
from routes.edge.pipeline.passing import FarClient, Passed
from routes.edge.tabs import Tab


class Dispatcher(Protocol):
    """Answers requests, and counts them."""

    @property
    def service(self) -> Parts:
        """The parts of the service."""
        ...

    @property
    def table(self) -> RouteTable:
        """The declared routes."""
        ...

    async def answer(self, endpoint: Endpoint, incoming: Incoming) -> Outgoing:
        """The response to a request for a declared endpoint. Cancellation abandons it; an effect in flight goes on.

        Args:
            endpoint: the declared endpoint.
            incoming: the request.
        """
        ...

    async def answer_passed(self, request: Passed, deadline: Deadline, client: FarClient) -> Outgoing:
        """The response to a request that another node has passed on. Cancellation abandons it; an effect in flight goes
        on.

        Args:
            request: the whole request; the other node has counted it for its rate, unless it is `uncounted`.
            deadline: the request's deadline, at which it stops waiting.
            client: stands for the client that waits at the other node.
        """
        ...

    async def open(self, stream: Stream, incoming: Incoming) -> Outgoing | Opening:
        """Check a WebSocket handshake: the response that refuses it, or the stream. Cancellation abandons it.

        Args:
            stream: the declared stream.
            incoming: the handshake.
        """
        ...

    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that no declared route takes.

        Args:
            incoming: the request.
            refused: why it is refused, such as `RouteNotFound`.
        """
        ...

    def tab(self, peer: str) -> Tab:
        """The account of unsent bytes for a client.

        Args:
            peer: the address at the other end of the connection.
        """
        ...

    def preflight(self, incoming: Incoming, methods: str) -> Outgoing:
        """The response to OPTIONS.

        Args:
            incoming: the request.
            methods: the methods of the route, separated by commas.
        """
        ...
