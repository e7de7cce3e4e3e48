"""Who belongs to a game server (contract §2, §7)."""

from typing import Annotated

import msgspec

from actors.connect.capabilities import CAPABILITIES, READ_MEMBERS, WRITE_MEMBERS, Capability, Role
from actors.connect.commands import PutMember, RemoveMember
from actors.connect.public_members import Member, member_of, members_of
from actors.errors import Blocked, Conflict, Forbidden, Invalid, NotFound, QuotaExceeded
from actors.ids import UserId, Uuid
from persistence.connect import members, servers
from persistence.connect.rows import MemberRow, ServerRow
from persistence.connection import Connection
from routes.call import Call
from routes.connect.guards import belongs, may
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Ask
from routes.edge.wire import Wire

READ_NODE, WRITE_NODE = "connect:members:read", "connect:members:write"

_MEMBERS = "/v1/connect/servers/{serverId}/members"

Capabilities = Annotated[tuple[Capability, ...], msgspec.Meta(max_length=len(CAPABILITIES))]


class MemberBody(Wire, frozen=True):
    """What somebody is to be on a server, whole.

    Args:
        role: admin, operator or viewer; an owner is made by an invite.
        capabilities: beside those of the role.
    """

    role: Role
    capabilities: Capabilities = ()


class MemberList(Wire, frozen=True):
    """Who belongs to a server: its owner first, then the others as they came."""

    items: tuple[Member, ...]


@endpoint("GET", _MEMBERS, needs=READ_NODE, refusals=(NotFound, Forbidden), guard=may(READ_MEMBERS))
async def list_members(call: Call, server_id: Uuid) -> MemberList:
    """GET …/servers/{serverId}/members: who belongs to the server, its owner first.

    Needs the capability `server.members.read`.
    """
    row, rows = await call.service.database.read(_read, server_id)
    if row is None:
        raise NotFound
    return MemberList(members_of(row, rows))


@endpoint(
    "PUT",
    _MEMBERS + "/{userId}",
    needs=WRITE_NODE,
    refusals=(NotFound, Forbidden, Blocked, Invalid, QuotaExceeded, Conflict),
    guard=may(WRITE_MEMBERS),
)
def put_member(call: Call, server_id: Uuid, user_id: UserId, body: MemberBody) -> Ask[Member]:
    """PUT …/servers/{serverId}/members/{userId}: makes somebody a member, or another sort of member.

    Needs the capability `server.members.write`. Nobody grants more than they hold, or changes who holds more; the
    owner stays the owner.
    """
    command = PutMember(
        actor_id=call.user_id, user_id=user_id, role=body.role, capabilities=body.capabilities
    )
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, command, member_of)


@endpoint(
    "DELETE",
    _MEMBERS + "/{userId}",
    needs=WRITE_NODE,
    refusals=(NotFound, Forbidden, Conflict),
    guard=belongs,
)
def remove_member(call: Call, server_id: Uuid, user_id: UserId) -> Ask[None]:
    """DELETE …/servers/{serverId}/members/{userId}: lets somebody go; with one's own id, one leaves.

    Others need the capability `server.members.write`, and to hold no less. The owner cannot leave. Answers 204.
    """
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, RemoveMember(call.user_id, user_id))


async def _read(conn: Connection, server_id: str) -> tuple[ServerRow | None, list[MemberRow]]:
    return await servers.read(conn, server_id), await members.of_server(conn, server_id)
