"""Players on game servers: a ticket of the player's own lets the server act for them, until the session ends."""

from typing import Annotated

import msgspec

from actors.connect.claim_keys import digest
from actors.connect.commands import EndSession, IssueTicket, RedeemTicket
from actors.errors import Forbidden, JoinTokenExpired, JoinTokenUsed, NotFound, QuotaExceeded
from actors.ids import ObjectId, Uuid, new_object_id
from actors.time import iso
from persistence.connect.rows import SessionRow
from routes.connect.rights import itself_for
from routes.connect.servers import SECRET_BYTES
from routes.edge.base64url import to_base64url
from routes.edge.call import Call
from routes.edge.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED, SERVER
from routes.edge.reply import Asked
from routes.edge.wire import Wire

SCOPE = "server.sessions.write"
"""What a delegated token must be for."""

_ONE = "/v1/connect/servers/{serverId}"


class JoinTicket(Wire, frozen=True):
    """To be handed to the server by the player's client; shown this once, valid for a minute, once."""

    ticket: str
    expires_at: str


class TicketBody(Wire, frozen=True):
    """The ticket that a player's client has brought."""

    ticket: Annotated[str, msgspec.Meta(max_length=100)]


class PlayerSession(Wire, frozen=True):
    """A player on the server.

    Args:
        expires_at: when it ends by itself, 12 h after it began.
    """

    session_id: str
    user_id: str
    name: str
    expires_at: str


@endpoint(
    "POST",
    _ONE + "/join-tickets",
    needs=AUTHENTICATED,
    status=201,
    secret_reply=True,
    refusals=(NotFound,),
)
def make_join_ticket(call: Call, server_id: Uuid) -> Asked[JoinTicket]:
    """POST …/servers/{serverId}/join-tickets: the caller's consent that this server acts for them.

    A ticket takes the place of the one before. A server that nobody has claimed is a 404.
    """
    ticket = to_base64url(call.service.random_bytes(SECRET_BYTES))

    def shape(expires_at_ms: int) -> JoinTicket:
        return JoinTicket(ticket, iso(expires_at_ms))

    command = IssueTicket(call.user_id, call.user.name, digest(ticket))
    return call.ask(call.service.connect.server, server_id, command, shape)


@endpoint(
    "POST",
    _ONE + "/sessions",
    needs=SERVER,
    status=201,
    refusals=(NotFound, Forbidden, JoinTokenUsed, JoinTokenExpired, QuotaExceeded),
    guard=itself_for(SCOPE),
)
def start_session(call: Call, server_id: Uuid, body: TicketBody) -> Asked[PlayerSession]:
    """POST …/servers/{serverId}/sessions: turns a player's ticket into a session. The player is online from now on.

    An unknown ticket, or one for another server, is a 404; a used or expired one a 410. A session that the player had
    on this server ends. Delegated tokens need the scope `server.sessions.write`.
    """
    session_id = new_object_id(call.now_ms, call.service.random_bytes)
    command = RedeemTicket(digest(body.ticket), session_id)
    return call.ask(call.service.connect.server, server_id, command, _session_of)


@endpoint(
    "DELETE",
    _ONE + "/sessions/{sessionId}",
    needs=SERVER,
    refusals=(NotFound, Forbidden),
    guard=itself_for(SCOPE),
)
def end_session(call: Call, server_id: Uuid, session_id: ObjectId) -> Asked[None]:
    """DELETE …/servers/{serverId}/sessions/{sessionId}: the player has left; the server may no longer act for them.

    Delegated tokens need the scope `server.sessions.write`.
    """
    return call.ask(call.service.connect.server, server_id, EndSession(session_id))


def _session_of(session: SessionRow) -> PlayerSession:
    return PlayerSession(session.id, session.user_id, session.name, iso(session.expires_at_ms))
