"""What a cleartext HTTP connection waits for, and for how long.

Deadlines are not timers but numbers that the server's one sweep compares with the clock. They run only while the server
waits for the client, never while the client waits for the server.

    phase         until                                                     then
    HEAD          `head_seconds` after its first byte, or after connecting  408, close
    BODY          `body_seconds`, and more for every byte that came; not    408, close
                  while reading is paused
    APPLICATION   without end; ABANDON_SECONDS once the client is gone      the task is cancelled
    IDLE          `keep_alive_seconds`                                      close
    LINGER        `linger_seconds`                                          cut
"""

from enum import Enum, auto

ABANDON_SECONDS = 10.0
"""Time for an application to end after its client is gone; then it is cancelled, and effects in flight go on."""


class Phase(Enum):
    """What the connection is waiting for."""

    HEAD = auto()
    BODY = auto()
    APPLICATION = auto()
    IDLE = auto()
    LINGER = auto()
