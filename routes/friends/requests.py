"""Friend requests: sending them and answering them (service-api §4 Friends, contract §5)."""

from typing import Annotated

import msgspec

from actors.bounds import UuidText
from actors.errors import (
    AlreadyFriends,
    Blocked,
    Forbidden,
    FriendRequestsDisabled,
    Invalid,
    NotFound,
    QuotaExceeded,
    RequestExists,
)
from actors.friends.public import FriendEntry, RequestSent
from actors.ids import ObjectId, UserId, Uuid
from persistence.friends.requests import Request, read
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.reply import Reply
from routes.edge.wire import Wire
from routes.friends import actions
from routes.friends.actions import NAME_MAX, NOTE_MAX
from routes.rates import FRIEND_REQUEST

WRITE, EDIT = "social:friends.write", "social:friends.edit"

SEND_REFUSALS = (
    NotFound,
    Invalid,
    QuotaExceeded,
    Blocked,
    FriendRequestsDisabled,
    AlreadyFriends,
    RequestExists,
)
"""Refusals of sending a request."""

ACCEPT_REFUSALS = (NotFound, Forbidden, Blocked, QuotaExceeded)
"""Refusals of accepting a request."""

_LIST = "/v1/social/friends/requests"


class RequestBody(Wire, frozen=True):
    """The user to ask, by id or name; `targetId` takes precedence.

    Args:
        target_id: uuid.
        target_name: a name that only one user has, case ignored.
        note: shown to the other user, at most 300 characters.
    """

    target_id: UuidText | None = None
    target_name: Annotated[str, msgspec.Meta(max_length=NAME_MAX)] | None = None
    note: Annotated[str, msgspec.Meta(max_length=NOTE_MAX)] | None = None


async def concerned(call: Call, id: ObjectId) -> Request:
    """Guard: requires that the caller sent or received the request; for other users it does not exist.

    Routes that answer a request use `_sender_of_received` in the handler instead of a guard: answering ends the
    request, and guards run before kept answers are looked for, so a repeat under its Idempotency-Key would find no
    request.

    Raises:
        NotFound: the caller has no such pending request.
    """
    request = await call.service.database.read(read, id, call.now_ms)
    if request is None or call.user_id not in (request.sender_id, request.recipient_id):
        raise NotFound("no such request")
    return request


@endpoint(
    "POST", _LIST, needs=WRITE, status=201, found_status=200, rate=FRIEND_REQUEST, refusals=SEND_REFUSALS
)
async def send_request(call: Call, body: RequestBody) -> Reply[RequestSent]:
    """Sends a friend request (201).

    Needs `social:friends.write`. A request expires after 30 days. If the other user has sent one already, the two
    become friends: 200, with the new friend in `friend`. Unknown and ambiguous names are a 404, oneself is a 422.
    """
    other_id = await actions.resolve_target(call, body.target_id, body.target_name)
    return await actions.send(call, call.user_id, other_id, body.note)


@endpoint("POST", _LIST + "/{id}/accept", needs=EDIT, refusals=ACCEPT_REFUSALS)
async def accept_request(call: Call, id: ObjectId) -> FriendEntry:
    """Makes the two friends; the sender of the request is notified.

    Needs `social:friends.edit`, and to have received the request. Answers the Friend entry.
    """
    return await actions.accept(call, call.user_id, await _sender_of_received(call, id), id)


@endpoint("POST", _LIST + "/{id}/decline", needs=EDIT, refusals=(NotFound, Forbidden))
async def decline_request(call: Call, id: ObjectId) -> None:
    """Declines a request.

    Needs `social:friends.edit`, and to have received the request. Answers 204; the sender is not notified.
    """
    await actions.decline(call, call.user_id, await _sender_of_received(call, id), id)


@endpoint("DELETE", _LIST + "/{id}", needs=EDIT, refusals=(NotFound,), guard=concerned)
async def cancel_request(call: Call, id: ObjectId) -> None:
    """Removes a request; its sender and its recipient may do that.

    Needs `social:friends.edit`. Answers 204.
    """
    await actions.cancel(call, call.user_id, _other(call), id)


async def _sender_of_received(call: Call, id: ObjectId) -> UserId:
    """The id of the user who sent the request that the caller has received.

    Raises:
        NotFound: the caller has no such pending request.
        Forbidden: the caller sent the request.
    """
    request = await concerned(call, id)
    if call.user_id != request.recipient_id:
        raise Forbidden("only who was asked may answer")
    return UserId(Uuid(request.sender_id))


def _other(call: Call) -> UserId:
    request: Request = call.subject
    ids = (request.sender_id, request.recipient_id)
    return UserId(Uuid(ids[0] if ids[1] == call.user_id else ids[1]))
