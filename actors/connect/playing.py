"""Which players are on which game servers, in memory: a session makes a player ONLINE (contract §5), and is their
consent that the server acts for them (contract §2).

Sessions are read once at the start; from then on each start and end is taken in after its commit.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager

from actors.connect import events
from actors.connect.events import ServerNews
from actors.kernel.store import Store
from actors.meanwhile import Meanwhile
from actors.users.presence import Presence
from persistence.connect import sessions
from persistence.connect.rows import SessionRow


class Playing:
    """The sessions on all game servers.

    Args:
        presence: counts sessions like live sockets.
    """

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._sessions: dict[str, dict[str, SessionRow]] = {}  # {user id: {server id: their session}}
        self._told: Meanwhile[str] = Meanwhile()

    async def open(self, store: Store) -> None:
        """Load the sessions that were started before this process; to be called before any actor is activated.

        Sessions that have expired meanwhile count until their servers' actors end them, soon after.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        for session in await store.read(sessions.everywhere):
            self._begin(session)

    def hear(self, event: ServerNews) -> None:
        """Take in an event that a server's actor has committed."""
        match event:
            case events.SessionStarted():
                self._told.told(event.session.server_id)
                self._begin(event.session)
            case events.SessionEnded():
                self._told.told(event.session.server_id)
                self._leave(event.session.user_id, event.session.server_id)
            case _:
                pass

    def reading(self) -> AbstractContextManager[AbstractSet[str]]:
        """Collect the servers of which a session is told to have started or ended while rows are read."""
        return self._told.reading()

    def reconcile(self, server_id: str, found: Iterable[SessionRow]) -> None:
        """Replace a server's sessions by those found in its rows, after a turn whose outcome was unknown.

        Args:
            found: the sessions in rows; empty when there is no such server.
        """
        sessions = {session.user_id: session for session in found}
        gone = [user_id for user_id, there in self._sessions.items() if server_id in there]
        for user_id in gone:
            if user_id not in sessions:
                self._leave(user_id, server_id)
        for session in sessions.values():
            self._begin(session)

    def lose(self, session: SessionRow) -> None:
        """Take in that a session has no row any more, without a turn of its server; another one of the user's stays."""
        known = self.session_of(session.user_id, session.server_id)
        if known is not None and known.id == session.id:
            self._leave(session.user_id, session.server_id)

    def other_than(self, found: Iterable[SessionRow]) -> set[str]:
        """The ids of servers whose sessions in memory differ from those in rows.

        Args:
            found: the sessions of all servers.
        """
        here = {session for there in self._sessions.values() for session in there.values()}
        return {session.server_id for session in here.symmetric_difference(found)}

    def plays_on(self, user_id: str, server_id: str, now_ms: int) -> bool:
        """Whether the user has an unexpired session on that server.

        Args:
            now_ms: epoch milliseconds.
        """
        session = self.session_of(user_id, server_id)
        return session is not None and session.expires_at_ms > now_ms

    def session_of(self, user_id: str, server_id: str) -> SessionRow | None:
        """The user's session on that server, or None. It may have expired, if it is about to be ended."""
        return self._sessions.get(user_id, {}).get(server_id)

    def sessions_of(self, user_id: str) -> list[SessionRow]:
        """The user's sessions, on whatever server."""
        return list(self._sessions.get(user_id, {}).values())

    def statistics(self) -> int:
        """The number of users with a session on any server."""
        return len(self._sessions)

    def _begin(self, session: SessionRow) -> None:
        there = self._sessions.setdefault(session.user_id, {})
        if session.server_id not in there:
            self._presence.opened(session.user_id, session.started_at_ms)
        there[session.server_id] = session

    def _leave(self, user_id: str, server_id: str) -> None:
        there = self._sessions.get(user_id, {})
        if there.pop(server_id, None) is None:
            return
        if not there:
            del self._sessions[user_id]
        self._presence.closed(user_id)
