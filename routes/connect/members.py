"""The members of a game server (contract §2, §7)."""

from typing import Annotated

import msgspec

from actors.connect.capabilities import CAPABILITIES, OWNER, READ_MEMBERS, WRITE_MEMBERS, Capability, Role
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
from routes.edge.declare.pages import Cursor, PageQuery
from routes.edge.reply import Ask
from routes.edge.wire import Wire
from routes.users.parts import USER_DIRECTORY

READ_NODE, WRITE_NODE = "connect:members:read", "connect:members:write"

_MEMBERS = "/v1/connect/servers/{serverId}/members"

_PAGES = Cursor("server-members", tuple[str, str])

_may_write = may(WRITE_MEMBERS)

Capabilities = Annotated[tuple[Capability, ...], msgspec.Meta(max_length=len(CAPABILITIES))]


class MemberBody(Wire, frozen=True):
    """A member's role and capabilities; both replace those before.

    Args:
        role: admin, operator or viewer; ownership is transferred by an invite.
        capabilities: in addition to those of the role.
    """

    role: Role
    capabilities: Capabilities = ()


class MemberList(Wire, frozen=True):
    """A page of the members of a server: the owner first, then the others in the order in which they joined."""

    items: tuple[Member, ...]
    next_cursor: str | None
    has_more: bool


@endpoint("GET", _MEMBERS, needs=READ_NODE, refusals=(NotFound, Forbidden), guard=may(READ_MEMBERS))
async def list_members(call: Call, server_id: Uuid, query: PageQuery) -> MemberList:
    """The server's owner and members, the owner first.

    Needs the capability `server.members.read`. A server that was removed meanwhile is a 404.
    """
    row, rows = await call.service.database.read(_read, server_id)
    if row is None:
        raise NotFound
    page = _PAGES.page_of_few(members_of(row, rows), query, _place)
    return MemberList(tuple(page.rows), page.next_cursor, page.has_more)


async def may_place(call: Call, server_id: Uuid, user_id: UserId) -> None:
    """Guard: requires `server.members.write`, and that there is such a user; checked again in the turn.

    Members who give the capability up and repeat that under its Idempotency-Key no longer have it: of those who change
    themselves under a key, only membership is required here.

    Raises:
        NotFound: there is no such user or server, or the caller does not belong to it.
        Forbidden: with `meta.permission`.
    """
    if call.may_be_a_repeat and user_id == call.user_id:
        await belongs(call, server_id)
    else:
        await _may_write(call, server_id)
    await call.service.of(USER_DIRECTORY).user_of(user_id)


@endpoint(
    "PUT",
    _MEMBERS + "/{userId}",
    needs=WRITE_NODE,
    refusals=(NotFound, Forbidden, Blocked, Invalid, QuotaExceeded, Conflict),
    guard=may_place,
)
def put_member(call: Call, server_id: Uuid, user_id: UserId, body: MemberBody) -> Ask[Member]:
    """Adds a member, or replaces a member's role and capabilities.

    Needs the capability `server.members.write`. The caller cannot grant more than they hold, nor change a member who
    holds more; the owner stays the owner.
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
    """Removes a member; with the caller's own id, the caller leaves.

    Removing others needs the capability `server.members.write`, and to hold no less than they do. The owner cannot
    leave. Answers 204.
    """
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, RemoveMember(call.user_id, user_id))


async def _read(conn: Connection, server_id: str) -> tuple[ServerRow | None, list[MemberRow]]:
    return await servers.read(conn, server_id), await members.of_server(conn, server_id)


def _place(member: Member) -> tuple[str, str]:
    return "" if member.role == OWNER else member.created_at, member.user_id
