"""The rules of players' tickets and sessions on a game server: pure (contract §2).

| command       | by              | unclaimed | claimed                             |
|---------------|-----------------|-----------|-------------------------------------|
| IssueTicket   | player          | NOT_FOUND | a ticket                            |
| RedeemTicket  | server          | NOT_FOUND | a session, if the ticket is valid   |
| EndSession    | server, player  | NOT_FOUND | ended                               |
| EndConsent    | service         | nothing   | the player's session and ticket end |

A player who was erased has neither: their tickets are unknown (`lookups.py` reads whether a player was erased).
"""

from collections.abc import Iterable, Sequence
from hmac import compare_digest

from msgspec.structs import replace

from actors.connect import commands, events
from actors.connect.consent import consent_ended, session_ended
from actors.connect.events import SessionEvent
from actors.connect.state import TICKET_KEPT_MS, State
from actors.errors import Blocked, JoinTokenExpired, JoinTokenUsed, NotFound, Overloaded, QuotaExceeded
from persistence.connect.rows import SessionRow, TicketRow

TICKET_MS = 60_000
"""How long a join ticket is valid (contract §2)."""

SESSION_MS = 12 * 3_600_000
"""How long a session lasts at most (contract §2)."""

MAX_SESSIONS = 10_000
"""The most players on one server."""

MAX_TICKETS = 10_000
"""The most tickets remembered for one server; when that many have not been forgotten, no more are issued."""


def decide(state: State, command: commands.SessionCommand, now_ms: int) -> Sequence[SessionEvent]:
    """Decide on a command about players: the events that it makes.

    Args:
        now_ms: the turn's time, epoch milliseconds.

    Raises: the refusals of its rule, after which nothing has changed.
    """
    match command:
        case commands.IssueTicket():
            return _issue_ticket(state, command, now_ms)
        case commands.RedeemTicket():
            return _redeem(state, command, now_ms)
        case commands.EndSession():
            return (session_ended(state, _session(state, command), now_ms),)
        case commands.EndConsent():
            return consent_ended(state, now_ms, command.user_id)


def ticket_of(state: State, command: commands.RedeemTicket) -> TicketRow | None:
    """The ticket that the server wants to exchange, or None if there is none like it."""
    return next((one for one in state.tickets.values() if compare_digest(one.ticket, command.ticket)), None)


def with_session(state: State, event: SessionEvent) -> State:
    """The state after the event."""
    match event:
        case events.TicketIssued():
            ticket = event.ticket
            tickets = _remembered(state.tickets.values(), event.at_ms)
            return replace(state, tickets={**tickets, ticket.user_id: ticket}, relation=None)
        case events.TicketVoided():
            left_tickets = dict(state.tickets)
            left_tickets.pop(event.ticket.user_id, None)
            return replace(state, tickets=left_tickets)
        case events.SessionStarted():
            return replace(
                state,
                tickets={**state.tickets, event.ticket.user_id: event.ticket},
                sessions={**state.sessions, event.session.user_id: event.session},
                relation=None,
            )
        case events.SessionEnded():
            left = dict(state.sessions)
            left.pop(event.session.user_id, None)
            return replace(state, sessions=left)


def _issue_ticket(state: State, command: commands.IssueTicket, now_ms: int) -> Sequence[SessionEvent]:
    if state.row.owner_id is None or _is_erased(state, command.user_id):
        raise NotFound
    known = state.relation
    if known is not None and known.user_id == command.user_id and known.barred:
        raise Blocked
    if len(state.tickets) >= MAX_TICKETS and len(_remembered(state.tickets.values(), now_ms)) >= MAX_TICKETS:
        raise Overloaded
    ticket = TicketRow(
        state.id, command.user_id, command.ticket, command.name, now_ms + TICKET_MS, used=False
    )
    return (events.TicketIssued(ticket, now_ms),)


def _redeem(state: State, command: commands.RedeemTicket, now_ms: int) -> Sequence[SessionEvent]:
    if state.row.owner_id is None:
        raise NotFound
    ticket = ticket_of(state, command)
    if ticket is None or _is_erased(state, ticket.user_id):
        raise NotFound
    if ticket.used:
        raise JoinTokenUsed
    if ticket.expires_at_ms <= now_ms:
        raise JoinTokenExpired
    former = state.sessions.get(ticket.user_id)
    if former is None and len(state.sessions) >= MAX_SESSIONS:
        raise QuotaExceeded(message=f"a server has at most {MAX_SESSIONS} sessions", max=MAX_SESSIONS)
    session = SessionRow(
        state.id, ticket.user_id, command.session_id, ticket.name, now_ms, now_ms + SESSION_MS
    )
    started = events.SessionStarted(session, replace(ticket, used=True))
    return (started,) if former is None else (session_ended(state, former, now_ms), started)


def _is_erased(state: State, user_id: str) -> bool:
    known = state.relation
    return known is not None and known.user_id == user_id and known.name is None


def _session(state: State, command: commands.EndSession) -> SessionRow:
    for session in state.sessions.values():
        if session.id == command.session_id and command.user_id in {None, session.user_id}:
            return session
    raise NotFound


def _remembered(tickets: Iterable[TicketRow], now_ms: int) -> dict[str, TicketRow]:
    """{user id: ticket} of tickets that expired no longer than `TICKET_KEPT_MS` ago."""
    return {one.user_id: one for one in tickets if one.expires_at_ms + TICKET_KEPT_MS > now_ms}
