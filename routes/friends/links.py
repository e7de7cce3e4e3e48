"""A user's settings for a friend, and ending a friendship (service-api §4 Friends, contract §5)."""

from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from actors.bounds import IdText
from actors.errors import Invalid, NotFound
from actors.friends.public import FriendEntry
from actors.friends.units_links import Choice, visibility_named
from actors.ids import UserId
from persistence.friends import links
from routes.call import Call
from routes.edge.declare.endpoint import endpoint
from routes.edge.wire import Wire
from routes.friends import actions
from routes.friends.actions import NOTE_MAX
from routes.friends.requests import EDIT

_ONE = "/v1/social/friends/{friendId}"


class LinkPatch(Wire, frozen=True):
    """Changes to the settings for a friend; a field that is left out stays.

    Args:
        visibility: what the friend sees of the caller: `DEFAULT`, `LIMITED` (no party, not when last seen), `HIDDEN`
            (always offline); any other value means `DEFAULT`.
        note: only shown to the caller, at most 300 characters; null removes it.
    """

    favorite: bool | None = None
    visibility: IdText | None = None
    note: Annotated[str, msgspec.Meta(max_length=NOTE_MAX)] | UnsetType | None = UNSET


async def befriended(call: Call, friend_id: UserId) -> None:
    """Guard: requires that the two are friends; checked again in the transaction.

    Raises:
        NotFound: the two are not friends, or there is no such user.
    """
    if not await call.service.database.read(links.friends_among, call.user_id, (friend_id,)):
        raise NotFound("no such friend")


@endpoint("PATCH", _ONE, needs=EDIT, refusals=(NotFound, Invalid), guard=befriended)
async def change_friend(call: Call, friend_id: UserId, body: LinkPatch) -> FriendEntry:
    """Changes favourite, visibility and note of a friend.

    Needs `social:friends.edit`. Answers the Friend entry.
    """
    visibility = None if body.visibility is None else visibility_named(body.visibility)
    return await actions.choose_for(
        call, call.user_id, friend_id, Choice(body.favorite, visibility, body.note)
    )


@endpoint("DELETE", _ONE, needs=EDIT, refusals=(NotFound,))
async def remove_friend(call: Call, friend_id: UserId) -> None:
    """Ends a friendship, for both users.

    Needs `social:friends.edit`. Answers 204.
    """
    await actions.remove(call, call.user_id, friend_id)
