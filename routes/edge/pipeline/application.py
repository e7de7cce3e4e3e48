"""The interface by which the lean server asks an application directly, bypassing ASGI.

The application remains plain ASGI; a server that knows this interface saves ASGI's scopes, messages and tasks. Both
ways end in the same pipeline (`dispatch.py`).
"""

from abc import ABC, abstractmethod

from actors.errors import Refused
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.opening import Opening


class DirectApplication(ABC):
    """An ASGI application that can also be asked directly."""

    @abstractmethod
    async def answer(self, incoming: Incoming) -> Outgoing | None:
        """The response to a request; None when the request has to go through ASGI.

        Cancellation abandons the request; an effect that was handed to the kernel or the database goes on.

        Args:
            incoming: the request, complete but for the body, of which nothing has been received when this returns None.
        """

    @abstractmethod
    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that the server itself refuses, with the headers that every response has.

        Args:
            incoming: the request, complete but for the body.
            refused: the refusal.
        """

    @abstractmethod
    async def open(self, incoming: Incoming) -> Outgoing | Opening | None:
        """Check a WebSocket handshake: a response that refuses it, the accepted stream, or None when it has to go
        through ASGI.

        Cancellation abandons the handshake, and nothing has been accepted.

        Args:
            incoming: the handshake, already checked against RFC 6455 §4.2.1.
        """
