"""What the lean server asks of an application before it goes the long way through ASGI.

The application stays plain ASGI; whoever serves it and knows this interface saves the scopes, messages and tasks.
Both ways end in the same pipeline (`dispatch.py`).
"""

from abc import ABC, abstractmethod

from actors.errors import Refused
from routes.edge.incoming import Incoming
from routes.edge.outgoing import Outgoing
from routes.edge.pipeline.dispatch import Opening


class DirectApplication(ABC):
    """An application that can be asked directly."""

    @abstractmethod
    async def answer(self, incoming: Incoming) -> Outgoing | None:
        """The response to a request; None when it has to go through ASGI.

        Args:
            incoming: complete but for the body, of which nothing has been received when this returns None.

        Cancellation: the request is abandoned; what it handed over goes on.
        """

    @abstractmethod
    def refuse(self, incoming: Incoming, refused: Refused) -> Outgoing:
        """The response to a request that the server itself refuses, with all that every response has.

        Args:
            incoming: complete but for the body.
            refused: why.
        """

    @abstractmethod
    async def open(self, incoming: Incoming) -> Outgoing | Opening | None:
        """What becomes of a WebSocket handshake: refused with a response, accepted, or None as for `answer`.

        Cancellation refuses nothing and accepts nothing.

        Args:
            incoming: the handshake, checked against RFC 6455 §4.2.1 already.
        """
