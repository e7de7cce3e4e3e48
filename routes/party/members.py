"""The caller's party: creating and leaving it, its members and its leader (service-api §4 Party, contract §6)."""

from actors.bounds import UuidText
from actors.errors import Conflict, Invalid, NotFound, NotLeader
from actors.id_fields import uuid_in
from actors.ids import UserId
from actors.party.commands import HandOver, Kick
from actors.party.public import PartySnapshot
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.party import actions
from routes.party.guards import leader, outgoing_leader

_PARTY = "/v1/social/party"


class NewLeader(Wire, frozen=True):
    """The member who is to lead the party."""

    player_id: UuidText


@endpoint("GET", _PARTY, needs=AUTHENTICATED)
async def read_party(call: Call) -> Encoded[PartySnapshot]:
    """The caller's party, or null, and pending invites."""
    return await actions.overview(call, call.user_id)


@endpoint("POST", _PARTY, needs=AUTHENTICATED, refusals=(NotFound, Conflict))
async def create_party(call: Call) -> Encoded[PartySnapshot]:
    """Creates a party for the caller, or answers the one that they are in."""
    return await actions.create(call, call.user_id)


@endpoint("POST", f"{_PARTY}/leave", needs=AUTHENTICATED)
async def leave_party(call: Call) -> Encoded[PartySnapshot]:
    """Leaves the party; it ends with its last member.

    When the leader leaves, the online member who has been in it longest leads, or the longest if none is online. Does
    nothing if the caller is in no party.
    """
    return await actions.leave(call, call.user_id)


@endpoint("DELETE", _PARTY, needs=AUTHENTICATED, refusals=(NotFound, NotLeader))
async def disband_party(call: Call) -> Encoded[PartySnapshot]:
    """Ends the party; for its leader only (403 `NOT_LEADER`)."""
    return await actions.disband(call, call.user_id)


@endpoint(
    "DELETE",
    f"{_PARTY}/members/{{playerId}}",
    needs=AUTHENTICATED,
    refusals=(NotFound, NotLeader),
    guard=leader,
)
async def remove_party_member(call: Call, player_id: UserId) -> Encoded[PartySnapshot]:
    """Removes a member; for the leader only (403 `NOT_LEADER`)."""
    return await actions.do(call, call.user_id, call.subject, Kick(call.user_id, player_id))


@endpoint(
    "PUT",
    f"{_PARTY}/leader",
    needs=AUTHENTICATED,
    refusals=(NotFound, NotLeader, Invalid),
    guard=outgoing_leader,
)
async def hand_over_party(call: Call, body: NewLeader) -> Encoded[PartySnapshot]:
    """Makes another member the leader; for the leader only (403 `NOT_LEADER`).

    A `playerId` that is not a member is a 404.
    """
    player_id = UserId(uuid_in(body.player_id, "/playerId"))
    return await actions.do(call, call.user_id, call.subject, HandOver(call.user_id, player_id))
