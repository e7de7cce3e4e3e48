"""Messages of a client that wait for the listener of its live socket."""

from collections import deque

INBOX_MAX_MESSAGES = 16
INBOX_MAX_BYTES = 128 * 1024
"""Messages waiting for the listener at which reading stops, so that TCP holds the client back; exceeded by at most
what one read brought."""


class Inbox(deque[bytes]):
    """The messages, the oldest first."""

    __slots__ = ()

    @property
    def size_bytes(self) -> int:
        """Bytes of all messages that wait."""
        return sum(map(len, self))

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more is read."""
        return len(self) >= INBOX_MAX_MESSAGES or self.size_bytes >= INBOX_MAX_BYTES
