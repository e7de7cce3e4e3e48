"""Friends of players, for game servers: the routes of users, for a player who has let the calling server act for them
(service-api §4 Server friends, contract §2).
"""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import Forbidden, Invalid, NotFound
from actors.friends.public import FriendsOverview, RequestSent
from actors.ids import UserId
from routes.call import Call
from routes.connect.consent import acting_for
from routes.counting import count
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SERVER
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.friends import actions
from routes.friends.actions import NAME_MAX, NOTE_MAX
from routes.friends.channels import READ
from routes.friends.requests import ACCEPT_REFUSALS, EDIT, SEND_REFUSALS, WRITE
from routes.rates import FRIEND_REQUEST

CONSENT_REFUSALS = (Forbidden, NotFound, Invalid)
"""Refusals that every request on behalf of a player may get."""

_SERVER = "/v1/social/friends/server"


class ActorBody(Wire, frozen=True):
    """`actorId`: the player for whom the server acts."""

    actor_id: UuidText


class ActorAndTarget(Wire, frozen=True):
    """Two players, of whom the server acts for the first.

    Args:
        actor_id: the player for whom the server acts.
        target_id: the other user.
        target_name: the other user's name, in place of `targetId`, if only one user has it.
    """

    actor_id: UuidText
    target_id: UuidText | None = None
    target_name: Annotated[str, msgspec.Meta(max_length=NAME_MAX)] | None = None


class ServerRequestBody(Wire, frozen=True):
    """`actorId`: the player for whom the server acts. The user to ask: `targetId`, or else `targetName`, a name that
    only one user has. `note`: shown to the other user, at most 300 characters.

    Args:
        target_id: the other user.
        target_name: the other user's name, in place of `targetId`, if only one user has it.
        note: what to write along.
    """

    actor_id: UuidText
    target_id: UuidText | None = None
    target_name: Annotated[str, msgspec.Meta(max_length=NAME_MAX)] | None = None
    note: Annotated[str, msgspec.Meta(max_length=NOTE_MAX)] | None = None


@endpoint("POST", _SERVER + "/overview", needs=SERVER, refusals=CONSENT_REFUSALS)
async def read_friends_for_player(call: Call, body: ActorBody) -> FriendsOverview:
    """Friends and requests of a player who has let the server act for them."""
    return await actions.overview_of(call, await acting_for(call, body.actor_id, READ))


@endpoint(
    "POST",
    _SERVER + "/requests",
    needs=SERVER,
    status=201,
    found_status=200,
    refusals=(*SEND_REFUSALS, Forbidden),
)
async def send_request_for_player(call: Call, body: ServerRequestBody) -> Reply[RequestSent]:
    """Sends a friend request on behalf of a player (201).

    As with the player's own requests, if the other user has sent one already, the two become friends (200). It counts
    towards the player's limit.
    """
    actor_id = await acting_for(call, body.actor_id, WRITE)
    # Beside the server's own limit, which is far larger.
    count(call, FRIEND_REQUEST, actor_id)
    target_id = await actions.resolve_target(call, body.target_id, body.target_name)
    return await actions.send(call, actor_id, target_id, body.note)


@endpoint("POST", _SERVER + "/requests/accept", needs=SERVER, refusals=(*ACCEPT_REFUSALS, Invalid))
async def accept_request_for_player(call: Call, body: ActorAndTarget) -> None:
    """Accepts the target's request on behalf of a player. Answers 204."""
    await actions.accept_silently(call, *await _pair(call, body))


@endpoint("POST", _SERVER + "/requests/decline", needs=SERVER, refusals=CONSENT_REFUSALS)
async def decline_request_for_player(call: Call, body: ActorAndTarget) -> None:
    """Declines the target's request on behalf of a player. Answers 204."""
    await actions.decline(call, *await _pair(call, body))


@endpoint("POST", _SERVER + "/requests/cancel", needs=SERVER, refusals=CONSENT_REFUSALS)
async def cancel_request_for_player(call: Call, body: ActorAndTarget) -> None:
    """Withdraws a player's request to the target. Answers 204."""
    await actions.cancel(call, *await _pair(call, body))


@endpoint("DELETE", _SERVER, needs=SERVER, refusals=CONSENT_REFUSALS)
async def remove_friend_for_player(call: Call, body: ActorAndTarget) -> None:
    """Ends a player's friendship with the target. Answers 204."""
    await actions.remove(call, *await _pair(call, body))


async def _pair(call: Call, body: ActorAndTarget) -> tuple[UserId, UserId]:
    actor_id = await acting_for(call, body.actor_id, EDIT)
    return actor_id, await actions.resolve_target(call, body.target_id, body.target_name)
