"""What ends together with a player's consent that a game server acts for them (contract §2): pure.

Consent is given to a server as it is. It ends when the player withdraws it, when a block stands between the player
and the owner, and when the server gets another owner, whom the player has not consented to.
"""

from collections.abc import Sequence

from actors.connect.events import SessionEnded, TicketVoided
from actors.connect.state import State
from persistence.connect.rows import SessionRow


def session_ended(state: State, session: SessionRow, now_ms: int) -> SessionEnded:
    """The event that ends a session, now or when it has expired.

    Args:
        now_ms: the turn's time, epoch milliseconds.
    """
    own = state.row.owner_id == session.user_id
    return SessionEnded(session, min(now_ms, session.expires_at_ms), own)


def consent_ended(
    state: State, now_ms: int, user_id: str | None = None
) -> Sequence[SessionEnded | TicketVoided]:
    """End sessions and void unused tickets.

    Args:
        now_ms: the turn's time, epoch milliseconds.
        user_id: the player whose session and ticket end; None for all players.
    """
    sessions = [
        session_ended(state, session, now_ms)
        for session in state.sessions.values()
        if user_id in {None, session.user_id}
    ]
    tickets = [
        TicketVoided(ticket)
        for ticket in state.tickets.values()
        if not ticket.used and user_id in {None, ticket.user_id}
    ]
    return (*sessions, *tickets)
