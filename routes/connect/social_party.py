"""Parties of players, for game servers: the routes of users, for a player who has let the calling server act for them
(service-api §4 Server party, contract §6).
"""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import (
    Blocked,
    Conflict,
    Forbidden,
    InviteExpired,
    NotLeader,
    QuotaExceeded,
)
from actors.id_fields import uuids_in
from actors.ids import UserId, Uuid
from actors.party.public import PartyLookup, PartySnapshot
from routes.call import Call
from routes.connect.consent import SCOPE, acting_for, has_consent
from routes.connect.guards import require_scope
from routes.connect.social_friends import CONSENT_REFUSALS, ActorBody
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SERVER
from routes.edge.reply import Encoded
from routes.edge.wire import Wire
from routes.friends.actions import NAME_MAX, resolve_target
from routes.party import actions

MAX_LOOKED_UP = 100
"""Most players of one lookup."""

_SERVER = "/v1/social/party/server"


class PlayerInviteBody(Wire, frozen=True):
    """`actorId`: the player for whom the server acts. The user to invite: `targetId`, or else `targetName`, a name that
    only one user has.

    Args:
        target_id: the user to invite.
        target_name: their name, in place of `targetId`, if only one user has it.
    """

    actor_id: UuidText
    target_id: UuidText | None = None
    target_name: Annotated[str, msgspec.Meta(max_length=NAME_MAX)] | None = None


class LookupBody(Wire, frozen=True):
    """`playerIds`: the players to look up, at most 100.

    Args:
        player_ids: the players to look for.
    """

    player_ids: Annotated[tuple[UuidText, ...], msgspec.Meta(max_length=MAX_LOOKED_UP)]


@endpoint("POST", _SERVER + "/overview", needs=SERVER, refusals=CONSENT_REFUSALS)
async def read_party_for_player(call: Call, body: ActorBody) -> Encoded[PartySnapshot]:
    """Party and invites of a player who has let the server act for them."""
    return await actions.overview(call, await acting_for(call, body.actor_id))


@endpoint("POST", _SERVER, needs=SERVER, refusals=(*CONSENT_REFUSALS, Conflict))
async def create_party_for_player(call: Call, body: ActorBody) -> Encoded[PartySnapshot]:
    """Creates a party for a player, or answers the one that they are in."""
    return await actions.create(call, await acting_for(call, body.actor_id))


@endpoint("POST", _SERVER + "/leave", needs=SERVER, refusals=CONSENT_REFUSALS)
async def leave_party_for_player(call: Call, body: ActorBody) -> Encoded[PartySnapshot]:
    """A player leaves their party, if they are in one."""
    return await actions.leave(call, await acting_for(call, body.actor_id))


@endpoint("DELETE", _SERVER, needs=SERVER, refusals=(*CONSENT_REFUSALS, NotLeader))
async def disband_party_for_player(call: Call, body: ActorBody) -> Encoded[PartySnapshot]:
    """Ends the party that a player leads."""
    return await actions.disband(call, await acting_for(call, body.actor_id))


@endpoint(
    "POST", _SERVER + "/invites", needs=SERVER, refusals=(*CONSENT_REFUSALS, Blocked, Conflict, QuotaExceeded)
)
async def invite_for_player(call: Call, body: PlayerInviteBody) -> Encoded[PartySnapshot]:
    """Invites a user on behalf of a player; creates a party if the player is in none."""
    actor_id = await acting_for(call, body.actor_id)
    return await actions.invite(call, actor_id, await resolve_target(call, body.target_id, body.target_name))


@endpoint(
    "POST",
    _SERVER + "/invites/{partyId}/accept",
    needs=SERVER,
    refusals=(*CONSENT_REFUSALS, Blocked, Conflict, InviteExpired, QuotaExceeded),
)
async def accept_invite_for_player(call: Call, party_id: Uuid, body: ActorBody) -> Encoded[PartySnapshot]:
    """A player joins the party that has invited them, and leaves their own."""
    return await actions.accept(call, await acting_for(call, body.actor_id), party_id)


@endpoint(
    "POST",
    _SERVER + "/invites/{partyId}/decline",
    needs=SERVER,
    refusals=(*CONSENT_REFUSALS, InviteExpired),
)
async def decline_invite_for_player(call: Call, party_id: Uuid, body: ActorBody) -> Encoded[PartySnapshot]:
    """Declines an invite on behalf of a player."""
    return await actions.decline(call, await acting_for(call, body.actor_id), party_id)


@endpoint("POST", _SERVER + "/lookup", needs=SERVER, refusals=(Forbidden,))
async def look_up_parties(call: Call, body: LookupBody) -> PartyLookup:
    """The parties of the named players.

    Covers only players who have let the server act for them; others look as if they were in no party. Members who hide
    from the server's owner, or are parted from them by a block, look offline. An id that is not a uuid is a 422.
    """
    require_scope(call.server, SCOPE)
    named = uuids_in(body.player_ids, "/playerIds")
    known = dict.fromkeys(UserId(one) for one in named if has_consent(call, one))
    return await actions.lookup(call, tuple(known), call.server.owner_id or "")
