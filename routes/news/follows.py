"""What the caller follows (contract §10)."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from actors.bounds import MAX_NAMED, ShortText, ruled
from actors.errors import Invalid, NotFound
from actors.news import units_follows
from actors.news.public import Follow
from actors.news.units_follows import FOLLOWS_MAX
from persistence.news import follows
from persistence.news.rows import FollowRow, FollowType
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import AUTHENTICATED
from routes.edge.wire import Wire


class FollowDraft(Wire, frozen=True):
    """One thing to follow: a network or server by its id, or a category by its name.

    Args:
        type: what is followed.
        id: the network's or server's id, or the category.
    """

    type: FollowType
    id: ShortText


class FollowsBody(Wire, frozen=True):
    """All that the caller follows from now on.

    Args:
        items: at most 200.
    """

    items: Annotated[tuple[FollowDraft, ...], msgspec.Meta(max_length=MAX_NAMED), ruled(maxItems=FOLLOWS_MAX)]


class Follows(Wire, frozen=True):
    """What the caller follows, in the order in which it was given."""

    items: list[Follow]


@endpoint("GET", "/v1/news/follows", needs=AUTHENTICATED)
async def read_news_follows(call: Call) -> Follows:
    """The networks, servers and categories whose news are in the caller's feed."""
    return _shown(await call.service.database.read(follows.of_user, call.user_id))


@endpoint("PUT", "/v1/news/follows", needs=AUTHENTICATED, refusals=(Invalid, NotFound))
async def put_news_follows(call: Call, body: FollowsBody) -> Follows:
    """Replaces all that the caller follows. Unknown networks and servers are a 422 `UNKNOWN`."""
    wanted = units_follows.checked([FollowRow(one.type, one.id) for one in body.items])
    about = f"news follows {call.user_id}"
    return await change(call, units_follows.put, call.user_id, wanted, about=about, shape=_shown)


def _shown(rows: Sequence[FollowRow]) -> Follows:
    return Follows([Follow(row.type, row.id) for row in rows])
