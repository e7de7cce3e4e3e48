"""Who plays where, in memory: it makes players ONLINE (contract §5), and is their consent that the server acts for
them (contract §2).

Read once at the start, and from then on told of each session that has begun or ended, after its commit.
"""

from collections.abc import Iterable

from actors.connect import events
from actors.connect.events import AnyEvent
from actors.connect.state import State
from actors.kernel.store import Store
from actors.users.presence import Presence
from persistence.connect import sessions
from persistence.connect.rows import SessionRow


class Playing:
    """The sessions on all game servers.

    Args:
        presence: counts them beside live sockets.
    """

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._sessions: dict[str, dict[str, SessionRow]] = {}  # {user id: {server id: their session}}

    async def open(self, store: Store) -> None:
        """Take in the sessions that were there before this process; before any owner lives.

        Those that have come to their end meanwhile count until their owners end them, in a moment.

        Raises:
            DatabaseUnavailable: the store cannot be asked.
        """
        for session in await store.read(sessions.everywhere):
            self._begin(session)

    def happened(self, _state: State, event: AnyEvent) -> None:
        """Follow what a server's owner has committed."""
        match event:
            case events.SessionStarted():
                self._begin(event.session)
            case events.SessionEnded():
                self._leave(event.session.user_id, event.session.server_id)

    def reconcile(self, server_id: str, found: Iterable[SessionRow]) -> None:
        """A server has been asked who is on it; nobody, when there is none."""
        sessions = {session.user_id: session for session in found}
        gone = [user_id for user_id, there in self._sessions.items() if server_id in there]
        for user_id in gone:
            if user_id not in sessions:
                self._leave(user_id, server_id)
        for session in sessions.values():
            self._begin(session)

    def plays_on(self, user_id: str, server_id: str, now_ms: int) -> bool:
        """Whether this user is on that server, by a ticket of their own.

        Args:
            now_ms: epoch milliseconds.
        """
        session = self.session_of(user_id, server_id)
        return session is not None and session.expires_at_ms > now_ms

    def session_of(self, user_id: str, server_id: str) -> SessionRow | None:
        """The player's session on that server, also one that is about to be ended because its time is over."""
        return self._sessions.get(user_id, {}).get(server_id)

    def statistics(self) -> int:
        """How many users play somewhere."""
        return len(self._sessions)

    def _begin(self, session: SessionRow) -> None:
        there = self._sessions.setdefault(session.user_id, {})
        if session.server_id not in there:
            self._presence.opened(session.user_id)
        there[session.server_id] = session

    def _leave(self, user_id: str, server_id: str) -> None:
        there = self._sessions.get(user_id, {})
        if there.pop(server_id, None) is None:
            return
        if not there:
            del self._sessions[user_id]
        self._presence.closed(user_id)
