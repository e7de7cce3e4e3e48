"""Sessions that have ended of late, so that whoever still holds one is told why."""

from collections.abc import Callable

from actors.voice.state import REMOVED_MS, Reason

MOST_ENDED = 20_000
"""Most sessions whose end is remembered."""


class EndedSessions:
    """The ends of sessions, each for `REMOVED_MS`.

    Args:
        now_ms: returns epoch milliseconds.
    """

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        # {session id: (user id, why, when)}, the oldest first
        self._ended: dict[str, tuple[str, Reason, int]] = {}

    def note(self, user_id: str, session_id: str, reason: Reason) -> None:
        """Remember that a session has ended; the first reason stays."""
        if session_id in self._ended:  # replaced, and now its channel has heard of it
            return
        if len(self._ended) >= MOST_ENDED:
            del self._ended[next(iter(self._ended))]
        self._ended[session_id] = user_id, reason, self._now_ms()

    def user_of(self, session_id: str) -> str | None:
        """The id of the user whose session it was; None where that is not known."""
        ended = self._ended.get(session_id)
        return None if ended is None else ended[0]

    def why(self, session_id: str) -> Reason:
        """Why a session has ended: of silence, where nothing else is known."""
        ended = self._ended.get(session_id)
        return "EXPIRED" if ended is None else ended[1]

    def forget_old(self) -> None:
        """Forget those that have ended too long ago."""
        now_ms = self._now_ms()
        for session_id, (_, _, ended_ms) in tuple(self._ended.items()):
            if ended_ms + REMOVED_MS > now_ms:
                break
            del self._ended[session_id]
