"""Counts what is done through a route towards another rate than the route's own."""

from typing import NoReturn

from actors.ids import UserId
from routes.call import Call
from routes.edge.errors import RateLimited
from routes.edge.limits import Decision
from routes.edge.policies import Policy


def count(call: Call, policy: Policy, actor_id: UserId, suffix: str = "") -> None:
    """Count one action towards a user's limit, beside the rate of the route, which the caller has kept.

    Args:
        call: may be a game server's, for the user.
        policy: the rate.
        actor_id: whose it is.
        suffix: for whom each user has a limit of their own.

    Raises:
        RateLimited: the user has done it too often lately.
    """
    limits = call.service.limits
    if not limits.enabled:
        return
    decision = limits.take_for(policy, actor_id, call.now_ms, suffix=suffix)
    if not decision.allowed:
        _refuse(call, decision)


def charge(call: Call, policy: Policy, payer: str, size_bytes: int) -> None:
    """Charge somebody for bytes that a request leaves behind: one that is let through may have any size, and the next
    ones wait until it is paid for.

    Args:
        call: whoever makes it is refused.
        policy: the rate, in bytes.
        payer: the key of who pays.
        size_bytes: nothing is charged below 1.

    Raises:
        RateLimited: the payer has not paid for former ones yet.
    """
    refusal = call.service.limits.charge(policy, payer, call.now_ms, size_bytes)
    if refusal is not None:
        _refuse(call, refusal)


def _refuse(call: Call, decision: Decision) -> NoReturn:
    """Refuse a request; its RateLimit headers then tell of this rate: that of the route still has plenty left, and a
    client that goes by it would come back at once."""
    call.decision = decision
    raise RateLimited(decision.retry_after_ms)
