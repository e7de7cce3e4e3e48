"""Events of sessions' rows."""

import msgspec

from persistence.sessions.sessions import EndedSession


class SessionsEnded(msgspec.Struct, frozen=True):
    """Sessions have ended: their tokens must be refused from now on."""

    ended: tuple[EndedSession, ...]
