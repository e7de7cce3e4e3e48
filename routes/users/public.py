"""Public routes of users: what is shown of them without a token (contract §10)."""

from typing import Annotated

from actors.errors import NotFound
from actors.ids import parse_uuid
from actors.time import iso, iso_or_none
from persistence.capes.choices import read_worn
from persistence.users.names import ids_named
from persistence.users.public import shuns_somebody, supporters
from persistence.users.users import User
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.declare.query import Clamp
from routes.edge.principal import PUBLIC
from routes.edge.wire import Wire
from routes.users.parts import PRESENCE, USER_DIRECTORY

KEPT = "public, no-cache"
LISTED = "public, max-age=60"

SHOWN = "PUBLIC"
"""The `serverListVisibility` of users whose presence is public."""


class PublicUser(Wire, frozen=True):
    """A user as the public sees them.

    Args:
        online: null unless it is public: their `privacy.serverListVisibility` is `PUBLIC`, and they neither hide from a
            friend nor block a user.
        highest_role_label: `Super Admin`, `Admin`, `Moderator` or `User`.
        cape_id: the approved cape that they wear, or null.
    """

    user_id: str
    name: str
    online: bool | None
    highest_role_label: str
    cape_id: str | None
    created_at: str


class SupportersQuery(Wire, frozen=True):
    """How many to list."""

    limit: Annotated[int, Clamp(1, 500)] = 50


class SupporterEntry(Wire, frozen=True):
    """A user who supports the service.

    Args:
        since: null if it is not recorded.
    """

    user_id: str
    name: str
    tier: str
    since: str | None


class Supporters(Wire, frozen=True):
    """Users who support the service, the longest first."""

    items: list[SupporterEntry]


@endpoint("GET", "/v1/public/users/{identifier}", needs=PUBLIC, cacheable=KEPT, refusals=(NotFound,))
async def read_public_user(call: Call, identifier: str) -> PublicUser:
    """A user by uuid, or by name, case ignored.

    An unknown user, and a name that several users have, is a 404.
    """
    users, database = call.service.of(USER_DIRECTORY), call.service.database
    user_id: str | None = parse_uuid(identifier)
    if user_id is None:
        named = await database.read(ids_named, identifier)
        if len(named) != 1:
            raise NotFound("no such user")
        user_id = named[0]
    user, access = await users.user_of(user_id), await users.access_of(user_id)
    worn = await database.read(read_worn, user_id)
    return PublicUser(
        user.id,
        user.name,
        await _online(call, user),
        access.highest_role_label,
        None if worn is None else worn[0].id,
        iso(user.created_at_ms),
    )


@endpoint("GET", "/v1/public/supporters", needs=PUBLIC, cacheable=LISTED)
async def list_supporters(call: Call, query: SupportersQuery) -> Supporters:
    """Users who support the service, the longest first."""
    found = await call.service.database.read(supporters, query.limit)
    return Supporters(
        [SupporterEntry(one.user_id, one.name, one.tier, iso_or_none(one.since_ms)) for one in found]
    )


async def _online(call: Call, user: User) -> bool | None:
    # Otherwise someone from whom the user hides could look here without a token.
    if user.server_list_visibility != SHOWN or await call.service.database.read(shuns_somebody, user.id):
        return None
    return call.service.of(PRESENCE).is_online(user.id)
