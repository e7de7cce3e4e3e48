"""WebSocket close codes, and what a client has to do about each (contract §9, RFC 6455 §7.4).

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


class Duty(IntEnum):
    """What the client has to do after the close."""

    STOP = 0
    FIX = 1
    NEW_TOKEN = 2
    BACK_OFF = 3
    RECONNECT = 4


# {code: what the client has to do}
DUTIES: dict[CloseCode, Duty] = {
    CloseCode.NORMAL: Duty.STOP,
    CloseCode.PROTOCOL_ERROR: Duty.FIX,
    CloseCode.ABNORMAL: Duty.RECONNECT,
    CloseCode.INVALID_TEXT: Duty.FIX,
    CloseCode.INTERNAL_ERROR: Duty.BACK_OFF,
    CloseCode.BAD_FRAME: Duty.FIX,
    CloseCode.UNAUTHENTICATED: Duty.NEW_TOKEN,
    CloseCode.FORBIDDEN: Duty.STOP,
    CloseCode.HEARTBEAT_MISSED: Duty.RECONNECT,
    CloseCode.TOO_BIG: Duty.FIX,
    CloseCode.FLOOD: Duty.BACK_OFF,
    CloseCode.DRAINING: Duty.RECONNECT,
}

# {duty: its sentence in the documentation}
SENTENCES: dict[Duty, str] = {
    Duty.STOP: "Do not reconnect by yourself.",
    Duty.FIX: "Do not reconnect: what was sent breaks a rule, and would again.",
    Duty.NEW_TOKEN: "Reconnect with a fresh token.",
    Duty.BACK_OFF: "Reconnect after at least 10 s, doubling.",
    Duty.RECONNECT: "Reconnect, after `afterMs` of the `reconnect` frame or a random time up to 10 s.",
}

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
