"""The rate limit of invites from one user to another, so that no user is flooded with invites that come and go."""

from actors.ids import UserId
from routes.call import Call
from routes.counting import count
from routes.rates import INVITE


def count_invite(call: Call, actor_id: UserId, target_id: str) -> None:
    """Count an invite of one user to another, into a party or to a server, sent by the user or a game server.

    Raises:
        RateLimited: the actor has invited this user too often lately.
    """
    count(call, INVITE, actor_id, target_id)
