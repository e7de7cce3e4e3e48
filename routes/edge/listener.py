"""What a stream leaves behind on its open socket: nothing runs until the client says something."""

from collections.abc import Awaitable
from typing import Protocol


class Listener(Protocol):
    """Hears the messages of one live socket, one after the other; returned by the handler of a `@stream`.

    The end of the socket is told by `LiveSocket.on_close`, not here.
    """

    def heard(self, message: bytes) -> Awaitable[None] | None:
        """The client said something.

        Args:
            message: a text message, valid UTF-8, at most as large as the server takes.

        Returns:
            None when it is done with; else what is to be awaited before the next message is heard. What it
            raises ends the socket with 1011. Cancelled when the server stops, not when the client goes.
        """
        ...
