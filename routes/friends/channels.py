"""The channel of friends on `/v1/social/live`, and the view behind it.

| channel   | snapshot     | events in delta mode                                                        |
|-----------|--------------|-----------------------------------------------------------------------------|
| `friends` | FriendsFrame | presence, friend_added, friend_removed, request_added, request_removed      |

`presence` carries the fields of an entry that the friend determines, and has no offset. `friend_added` carries the
whole entry, also after a change of the link; `request_added` the request, also after the other user was renamed; the
removals carry an id.
"""

from actors.friends.public import FriendEntry, FriendGone, FriendPart, FriendsFrame, RequestEntry, RequestGone
from routes.edge.declare.shown import Shown
from routes.friends.parts import FRIENDS_LIVE
from routes.live.channel import LiveChannel, the_user

READ = "social:friends.read"
"""The permission node for reading."""

FRIENDS = LiveChannel(
    name="friends",
    needs=(READ,),
    shown=lambda service: service.of(FRIENDS_LIVE).view,
    viewer=the_user,
    by_default=True,
    shows=Shown(
        says="Friends and the requests that wait. `presence` has no offset.",
        snapshot=FriendsFrame,
        events={
            "presence": FriendPart,
            "friend_added": FriendEntry,
            "friend_removed": FriendGone,
            "request_added": RequestEntry,
            "request_removed": RequestGone,
        },
    ),
)
