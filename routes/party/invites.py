"""Invites into parties (service-api §4 Party, contract §6)."""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import Blocked, Conflict, Invalid, InviteExpired, NotFound, NotLeader, QuotaExceeded
from actors.ids import UserId, Uuid
from actors.party.public import PartySnapshot
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.friends.actions import NAME_MAX, resolve_target
from routes.party import actions
from routes.party.guards import member

_INVITES = "/v1/social/party/invites"


class PartyInviteBody(Wire, frozen=True):
    """The user to invite, by id or name; `targetId` takes precedence.

    Args:
        target_id: uuid.
        target_name: a name that only one user has, case ignored.
    """

    target_id: UuidText | None = None
    target_name: Annotated[str, msgspec.Meta(max_length=NAME_MAX)] | None = None


@endpoint(
    "POST", _INVITES, needs=AUTHENTICATED, refusals=(NotFound, Blocked, Invalid, Conflict, QuotaExceeded)
)
async def invite_to_party(call: Call, body: PartyInviteBody) -> Encoded[PartySnapshot]:
    """Invites a user for ten minutes; creates a party if the caller is in none.

    The two need not be friends, but a block between them is a 403 `BLOCKED`. A party has at most 16 members.
    """
    target_id = await resolve_target(call, body.target_id, body.target_name)
    return await actions.invite(call, call.user_id, target_id)


@endpoint(
    "POST",
    f"{_INVITES}/{{partyId}}/accept",
    needs=AUTHENTICATED,
    refusals=(NotFound, Blocked, Conflict, InviteExpired, QuotaExceeded),
)
async def accept_party_invite(call: Call, party_id: Uuid) -> Encoded[PartySnapshot]:
    """Leaves the party that the caller is in, and joins the one that invited them.

    The only member of a party that somebody else is just joining stays there: a 409, which is over in a moment.
    """
    return await actions.accept(call, call.user_id, party_id)


@endpoint("POST", f"{_INVITES}/{{partyId}}/decline", needs=AUTHENTICATED, refusals=(NotFound, InviteExpired))
async def decline_party_invite(call: Call, party_id: Uuid) -> Encoded[PartySnapshot]:
    """Declines an invite."""
    return await actions.decline(call, call.user_id, party_id)


@endpoint(
    "DELETE",
    f"{_INVITES}/{{partyId}}/{{targetId}}",
    needs=AUTHENTICATED,
    refusals=(NotFound, NotLeader),
    guard=member,
)
async def revoke_party_invite(call: Call, party_id: Uuid, target_id: UserId) -> Encoded[PartySnapshot]:
    """Revokes an invite; its sender and the party's leader may do that.

    An invite of a party that the caller is not in is a 404.
    """
    if party_id != call.subject:
        raise NotFound("no such invite")
    return await actions.revoke(call, call.user_id, party_id, target_id)
