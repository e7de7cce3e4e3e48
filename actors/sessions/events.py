"""Events of sessions' rows."""

import msgspec

from persistence.sessions.sessions import EndedSession


class SessionsEnded(msgspec.Struct, frozen=True):
    """Sessions have ended, and with them their tokens."""

    ended: tuple[EndedSession, ...]
