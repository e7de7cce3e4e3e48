"""The rate limit of invites from one user to another, so that no user is flooded with invites that come and go."""

from actors.ids import UserId
from routes.call import Call
from routes.edge.errors import RateLimited
from routes.rates import INVITE


def count_invite(call: Call, actor_id: UserId, target_id: str) -> None:
    """Count an invite of one user to another, into a party or to a server, sent by the user or a game server.

    Raises:
        RateLimited: the actor has invited this user too often lately.
    """
    limits = call.service.limits
    if not limits.enabled:
        return
    decision = limits.take_for(INVITE, actor_id, call.now_ms, suffix=target_id)
    if not decision.allowed:
        raise RateLimited(decision.retry_after_ms)
