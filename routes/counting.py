"""Counts what a user does through a route towards another rate than the route's own."""

from actors.ids import UserId
from routes.call import Call
from routes.edge.errors import RateLimited
from routes.edge.policies import Policy


def count(call: Call, policy: Policy, actor_id: UserId, suffix: str = "") -> None:
    """Count one action towards a user's limit, beside the rate of the route, which the caller has kept.

    Args:
        call: may be a game server's, for the user.
        policy: the rate.
        actor_id: whose it is.
        suffix: for whom each user has a limit of their own.

    Raises:
        RateLimited: the user has done it too often lately. The answer's RateLimit headers then tell of this rate: that
            of the route still has plenty left, and a client that goes by it would come back at once.
    """
    limits = call.service.limits
    if not limits.enabled:
        return
    decision = limits.take_for(policy, actor_id, call.now_ms, suffix=suffix)
    if not decision.allowed:
        call.decision = decision
        raise RateLimited(decision.retry_after_ms)
