"""Players' sessions on game servers: with a ticket the player lets the server act for them until the session ends."""

from functools import partial
from typing import Annotated

import msgspec

from actors.connect.claim_keys import digest
from actors.connect.commands import EndSession, IssueTicket, RedeemTicket
from actors.errors import Blocked, Forbidden, JoinTokenExpired, JoinTokenUsed, NotFound, QuotaExceeded
from actors.ids import ObjectId, Uuid
from actors.time import iso
from persistence.connect import sessions
from persistence.connect.rows import SessionRow
from persistence.connect.sessions import NamedSession
from routes.call import Call
from routes.connect.guards import caller_of, itself_for
from routes.connect.parts import GAME_SERVERS
from routes.connect.servers import SECRET_BYTES
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.identity.base64url import to_base64url
from routes.edge.principal import AUTHENTICATED, SERVER, USER_OR_SERVER, ServerPrincipal
from routes.edge.reply import Ask
from routes.edge.wire import Wire

SCOPE = "server.sessions.write"
"""The scope that a delegated token needs."""

_PAGES = Cursor("player-sessions", tuple[int, str])

_itself = itself_for(SCOPE)
_ONE = "/v1/connect/servers/{serverId}"


class JoinTicket(Wire, frozen=True):
    """A ticket that the player's client hands to the server; shown this once, valid for a minute, for one use."""

    ticket: str
    expires_at: str


class TicketBody(Wire, frozen=True):
    """The ticket that the server got from a player's client."""

    ticket: Annotated[str, msgspec.Meta(max_length=100)]


class PlayerSession(Wire, frozen=True):
    """A player on the server.

    Args:
        expires_at: when the session ends by itself, 12 h after it began.
    """

    session_id: str
    user_id: str
    name: str
    expires_at: str


class OwnServerSession(Wire, frozen=True):
    """A server that may act for the caller.

    Args:
        expires_at: when the session ends by itself.
    """

    session_id: str
    server_id: str
    server_name: str
    started_at: str
    expires_at: str


class OwnServerSessions(Wire, frozen=True):
    """A page of the caller's sessions on game servers, newest first."""

    items: tuple[OwnServerSession, ...]
    next_cursor: str | None
    has_more: bool


@endpoint(
    "POST",
    _ONE + "/join-tickets",
    needs=AUTHENTICATED,
    status=201,
    secret_reply=True,
    refusals=(NotFound, Blocked),
)
def make_join_ticket(call: Call, server_id: Uuid) -> Ask[JoinTicket]:
    """Makes a ticket, the caller's consent that this server acts for them.

    A new ticket replaces the one before. A server without an owner is a 404. The consent ends with the session, with a
    block between the caller and the server's owner, and when the server changes its owner.
    """
    ticket = to_base64url(call.service.random_bytes(SECRET_BYTES))

    def shape(expires_at_ms: int) -> JoinTicket:
        return JoinTicket(ticket, iso(expires_at_ms))

    command = IssueTicket(call.user_id, call.user.name, digest(ticket))
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, command, shape)


@endpoint(
    "POST",
    _ONE + "/sessions",
    needs=SERVER,
    status=201,
    refusals=(NotFound, Forbidden, JoinTokenUsed, JoinTokenExpired, QuotaExceeded),
    guard=itself_for(SCOPE),
)
async def start_session(call: Call, server_id: Uuid, body: TicketBody) -> PlayerSession:
    """Exchanges a player's ticket for a session; they are online while it lasts.

    An unknown ticket, or one for another server, is a 404; a used or expired one a 410. An earlier session of the
    player on this server ends. Delegated tokens need the scope `server.sessions.write`.
    """
    session_id = call.new_id()
    command = RedeemTicket(digest(body.ticket), session_id)
    session = await call.ask(call.service.of(GAME_SERVERS).server, server_id, command, _session_of)
    await call.service.heard()
    return session


def may_end(call: Call, server_id: Uuid, session_id: ObjectId) -> None:
    """Guard: requires the server in the path, or the player whose session it is; checked again in the turn.

    Raises:
        NotFound: the caller is another server, or the session is not the calling player's.
        Forbidden: the server's delegated token lacks the scope.
    """
    if isinstance(call.principal, ServerPrincipal):
        _itself(call, server_id)
        return
    session = call.service.of(GAME_SERVERS).playing.session_of(call.user_id, server_id)
    if session is None or session.id != session_id:
        raise NotFound


@endpoint(
    "DELETE",
    _ONE + "/sessions/{sessionId}",
    needs=USER_OR_SERVER,
    refusals=(NotFound, Forbidden),
    guard=may_end,
)
async def end_session(call: Call, server_id: Uuid, session_id: ObjectId) -> None:
    """Ends a session; the server may no longer act for the player.

    For the server, when the player has left, and for the player, to withdraw their consent. Delegated tokens need the
    scope `server.sessions.write`. Answers 204.
    """
    command = EndSession(session_id, caller_of(call))
    await call.ask(call.service.of(GAME_SERVERS).server, server_id, command)
    await call.service.heard()


@endpoint("GET", "/v1/connect/sessions", needs=AUTHENTICATED)
async def list_sessions(call: Call, query: PageQuery) -> OwnServerSessions:
    """The servers that may act for the caller now, newest first."""
    read = partial(sessions.of_player, after=_PAGES.place(query.cursor), limit=query.limit + 1)
    found = await call.service.database.read(read, call.user_id, call.now_ms)
    page = _PAGES.page(found, query.limit, lambda one: (one.session.started_at_ms, one.session.id))
    shown = tuple(_own_session(one) for one in page.rows)
    return OwnServerSessions(shown, page.next_cursor, page.has_more)


def _own_session(one: NamedSession) -> OwnServerSession:
    session = one.session
    return OwnServerSession(
        session.id,
        session.server_id,
        one.server_name,
        iso(session.started_at_ms),
        iso(session.expires_at_ms),
    )


def _session_of(session: SessionRow) -> PlayerSession:
    return PlayerSession(session.id, session.user_id, session.name, iso(session.expires_at_ms))
