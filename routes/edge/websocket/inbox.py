"""Messages of a client that wait for the listener of its live socket."""

from collections import deque

INBOX_MAX_MESSAGES = 16
INBOX_MAX_BYTES = 128 * 1024
"""Messages and bytes in the inbox at which reading stops, so that TCP holds the client back; exceeded by at most what
one read brought."""


class Inbox:
    """The messages, in order."""

    __slots__ = ("_messages",)

    def __init__(self) -> None:
        self._messages: deque[bytes] = deque()

    def __len__(self) -> int:
        """How many messages wait."""
        return len(self._messages)

    @property
    def size_bytes(self) -> int:
        """Bytes of all messages that wait."""
        return sum(map(len, self._messages))

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more is to be read."""
        return len(self._messages) >= INBOX_MAX_MESSAGES or self.size_bytes >= INBOX_MAX_BYTES

    def put(self, message: bytes) -> None:
        """Append a message."""
        self._messages.append(message)

    def take(self) -> bytes:
        """Remove and return the oldest message; the inbox must not be empty."""
        return self._messages.popleft()
