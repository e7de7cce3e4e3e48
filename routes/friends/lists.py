"""Lists of the caller's friends and requests, and of others' friends (service-api §4 Friends, contract §5)."""

from actors.errors import NotFound, VisibilityDenied
from actors.friends import overview
from actors.friends.public import FriendsOverview, FriendsSnapshot, Requests
from actors.friends.units_relations import capacity
from actors.ids import UserId
from persistence.friends import requests
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.friends.actions import overview_of
from routes.friends.channels import READ
from routes.friends.parts import FRIENDS_LIVE
from routes.users.parts import USER_DIRECTORY

SEES_ALL = "admin:user:view"
"""The permission node that lets its holder see the friends and requests of all users."""


@endpoint("GET", "/v1/social/friends", needs=READ, refusals=(NotFound,))
async def read_friends(call: Call) -> FriendsSnapshot:
    """The caller's friends, the oldest friendship first, with counts.

    Needs `social:friends.read`.
    """
    service, user_id = call.service, call.user_id
    users = service.of(USER_DIRECTORY)
    user, access = await users.user_of(user_id), await users.access_of(user_id)
    owned = await service.database.read(overview.read_own, user_id, call.now_ms)
    return overview.snapshot(service.of(FRIENDS_LIVE), user, owned, capacity(access), call.now_ms)


@endpoint("GET", "/v1/social/friends/requests", needs=READ)
async def read_requests(call: Call) -> Requests:
    """Pending requests, sent and received, the oldest first.

    Needs `social:friends.read`.
    """
    found = await call.service.database.read(requests.of_user, call.user_id, call.now_ms)
    return overview.waiting(found, call.user_id)


@endpoint("GET", "/v1/users/{id}/friends", needs=READ, refusals=(NotFound, VisibilityDenied))
async def read_friends_of_user(call: Call, id: UserId) -> FriendsOverview:
    """A user's friends.

    Needs `social:friends.read`. The user themselves and holders of `admin:user:view` see everything. A friend sees the
    user's friends, except those from whom the user hides, and no requests. Other callers are refused, whether there is
    such a user or not.
    """
    if id == call.user_id or call.user.access.allows(SEES_ALL):
        return await overview_of(call, id)
    service, users = call.service, call.service.of(USER_DIRECTORY)
    looked = await service.database.read(overview.read_of_friend, id, call.user_id)
    user, access = await users.user_of(id), await users.access_of(id)
    return overview.for_friend(service.of(FRIENDS_LIVE), user, call.user_id, looked, capacity(access))
