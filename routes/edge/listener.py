"""Callback object for one live socket. A stream handler returns it and ends, so an idle socket needs no task."""

from collections.abc import Awaitable
from typing import Protocol


class Listener(Protocol):
    """Receives the messages of one live socket, one at a time; returned by the handler of a `@stream`.

    It is not told of the socket's end: see `LiveSocket.on_close`.
    """

    def heard(self, message: bytes) -> Awaitable[None] | None:
        """Handle one message of the client.

        Args:
            message: a text message, valid UTF-8, of at most the server's bound.

        Returns:
            None when the message is handled; else an awaitable that completes before the next message is delivered.
                An exception of it closes the socket with 1011. It is cancelled when the server stops, not when the
                client disconnects.
        """
        ...
