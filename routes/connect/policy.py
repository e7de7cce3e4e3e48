"""The access policy of a game server: who may play on it, and the decision for one user (contract §7)."""

from msgspec import UNSET, UnsetType

from actors.connect.capabilities import READ_MEMBERS, WRITE_MEMBERS
from actors.connect.commands import ChangePolicy
from actors.connect.policy import Acquaintance, Entry, admits
from actors.connect.public_members import AccessMode, AccessPolicy, policy_of
from actors.connect.state import State
from actors.errors import Forbidden, NotFound
from actors.ids import UserId, Uuid
from persistence.connect import members
from persistence.connection import Connection
from persistence.friends import standing
from persistence.users.names import read_names
from routes.call import Call
from routes.connect.guards import itself_for, may, state_of
from routes.connect.members import READ_NODE, WRITE_NODE
from routes.connect.parts import GAME_SERVERS
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SERVER
from routes.edge.reply import Ask
from routes.edge.wire import Wire

_ONE = "/v1/connect/servers/{serverId}"


class PolicyChange(Wire, frozen=True):
    """Changes to the policy; a field that is left out stays.

    Args:
        access_mode: who may play.
        invite_requires_direct_friend: whether members may only invite their own friends.
    """

    access_mode: AccessMode | UnsetType = UNSET
    invite_requires_direct_friend: bool | UnsetType = UNSET


class AccessQuery(Wire, frozen=True):
    """`userId`: the user who wants to play."""

    user_id: UserId


@endpoint(
    "GET", _ONE + "/access-policy", needs=READ_NODE, refusals=(NotFound, Forbidden), guard=may(READ_MEMBERS)
)
async def read_access_policy(call: Call, server_id: Uuid) -> AccessPolicy:
    """Who may play, and who may be invited.

    Needs the capability `server.members.read`.
    """
    return policy_of((await state_of(call, server_id)).row)


@endpoint(
    "PATCH",
    _ONE + "/access-policy",
    needs=WRITE_NODE,
    refusals=(NotFound, Forbidden),
    guard=may(WRITE_MEMBERS),
)
def change_access_policy(call: Call, server_id: Uuid, body: PolicyChange) -> Ask[AccessPolicy]:
    """Changes who may play, and who may be invited.

    Needs the capability `server.members.write`. Open streams of the server are told at once.
    """
    command = ChangePolicy(call.user_id, body.access_mode, body.invite_requires_direct_friend)
    return call.ask(call.service.of(GAME_SERVERS).server, server_id, command, policy_of)


@endpoint(
    "GET", _ONE + "/access", needs=SERVER, refusals=(NotFound, Forbidden), guard=itself_for(READ_MEMBERS)
)
async def read_access(call: Call, server_id: Uuid, query: AccessQuery) -> Entry:
    """Whether a user may play here, and why.

    For the server itself, once it is claimed; delegated tokens need the scope `server.members.read`. Its owner and
    members may always play; but nobody may between whom and the owner a block stands (`blocked`). A `userId` that is
    not a uuid is a 400.
    """
    state = await state_of(call, server_id)
    known = await call.service.database.read(_acquaintance, state, query.user_id, call.now_ms)
    return admits(state, query.user_id, known, call.now_ms)


async def _acquaintance(conn: Connection, state: State, user_id: str, now_ms: int) -> Acquaintance:
    row = state.row
    if user_id not in await read_names(conn, (user_id,)):
        return Acquaintance(exists=False)
    if row.owner_id is None:
        return Acquaintance(exists=True)
    marks = await standing.between(conn, row.owner_id, user_id)
    network = False
    if row.access_mode == "network" and row.network_id is not None:
        network = await members.in_network(conn, row.network_id, user_id, now_ms)
    return Acquaintance(
        exists=True, barred=marks.blocks or marks.blocked, friend_of_owner=marks.linked, in_network=network
    )
