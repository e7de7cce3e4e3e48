"""WebSocket close codes (contract §9, RFC 6455 §7.4); docs/errors.md says what a client does about each.

The range suffices for a client that knows no list: 1xxx belongs to the protocol, 44xx is about this client, 45xx
about this server.
"""

from enum import IntEnum
from typing import NamedTuple


class CloseCode(IntEnum):
    """The reason for which a socket was closed."""

    NORMAL = 1000
    PROTOCOL_ERROR = 1002
    ABNORMAL = 1006
    INVALID_TEXT = 1007
    INTERNAL_ERROR = 1011
    BAD_FRAME = 4400
    UNAUTHENTICATED = 4401
    FORBIDDEN = 4403
    HEARTBEAT_MISSED = 4408
    TOO_BIG = 4413
    FLOOD = 4429
    DRAINING = 4503


CLOSE_CODE_OF = {
    "UNAUTHENTICATED": CloseCode.UNAUTHENTICATED,
    "TOKEN_EXPIRED": CloseCode.UNAUTHENTICATED,
    "DRAINING": CloseCode.DRAINING,
    "INTERNAL": CloseCode.INTERNAL_ERROR,
}
"""{code of the refusal that ended the subscription of a single-purpose stream: close code}; FORBIDDEN for all others.
"""


class Ending(NamedTuple):
    """How a socket ended, on either side: close code (including 1005 and 1006, RFC 6455 §7.4.1) and reason."""

    code: int
    reason: str
