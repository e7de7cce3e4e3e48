"""What ends together with a player's consent that a game server acts for them (contract §2): pure.

Consent is given to a server as it is. It ends when the player withdraws it, when a block stands between the player
and the owner, and when the server gets another owner, whom the player has not consented to.
"""

from collections.abc import Sequence

from actors.connect.events import SessionEnded, TicketVoided
from actors.connect.state import State


def consent_ended(state: State, user_id: str | None = None) -> Sequence[SessionEnded | TicketVoided]:
    """End sessions and void unused tickets.

    Args:
        user_id: the player whose session and ticket end; None for all players.
    """
    sessions = [
        SessionEnded(session) for session in state.sessions.values() if user_id in {None, session.user_id}
    ]
    tickets = [
        TicketVoided(ticket)
        for ticket in state.tickets.values()
        if not ticket.used and user_id in {None, ticket.user_id}
    ]
    return (*sessions, *tickets)
