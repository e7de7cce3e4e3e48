"""Which sessions have ended of late, so that their tokens are refused as long as those would be valid.

A session that stands in rows is alive. Tokens that were verified before are not looked up there again, so those that
end are remembered here for longer than any token of theirs lives.
"""

from collections.abc import Callable, Collection, Iterable

from actors.kernel.clock import Clock
from actors.kernel.store import Store
from persistence.sessions import sessions
from persistence.sessions.sessions import EndedSession

TOKEN_MAX_SECONDS = 600
"""The longest life of a session's token."""

KEPT_MS = (TOKEN_MAX_SECONDS + 60) * 1000
"""How long an ended session is remembered: as long as its last token lives, and a minute for clocks that differ."""

EndListener = Callable[[EndedSession], None]
"""Called with a session that has ended."""


class SignedIn:
    """The sessions that ended within `KEPT_MS`; each stood in rows before, so that clients cannot fill it.

    Args:
        store: the database.
        clock: the time by which ended sessions are forgotten.

    Attributes:
        generation: increases when ends may have been missed, so that tokens verified before must be looked up again.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        # {session id: epoch milliseconds until which it is kept}, oldest first
        self._ended: dict[str, int] = {}
        self._listeners: list[EndListener] = []
        self.generation = 0

    def __len__(self) -> int:
        """How many ended sessions are remembered."""
        return len(self._ended)

    def on_end(self, listener: EndListener) -> None:
        """Call `listener(session)`, synchronously, for each session that ends."""
        self._listeners.append(listener)

    def ended(self, sessions: Iterable[EndedSession]) -> None:
        """Refuse the tokens of these sessions from now on."""
        now_ms = self._clock.now_ms()
        while self._ended and next(iter(self._ended.values())) <= now_ms:
            del self._ended[next(iter(self._ended))]
        for session in sessions:
            self._ended.pop(session.id, None)
            self._ended[session.id] = now_ms + KEPT_MS
            for listener in self._listeners:
                listener(session)

    def has_ended(self, session_id: str) -> bool:
        """Whether a session is known to have ended; never waits. False for one that ended long ago, too."""
        return session_id in self._ended

    async def lives(self, session_id: str) -> bool:
        """Whether a session still stands in rows.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        if session_id in self._ended:
            return False
        found = await self.living((session_id,))
        return bool(found) and session_id not in self._ended

    async def living(self, session_ids: Collection[str]) -> set[str]:
        """Those of the sessions with these ids that still stand in rows.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        return await self._store.read(lambda conn: sessions.living(conn, session_ids))

    def heard(self, payload: str) -> None:
        """Handle a NOTIFY: a session that has ended, or "" when some may have been missed."""
        if payload:
            self.ended((EndedSession.of(payload),))
        else:
            self.generation += 1
