"""Bounds how often an address may come with wrong credentials, whoever verifies them: the gate, or a guard."""

from routes.edge import policies
from routes.edge.address import rate_key
from routes.edge.errors import RateLimited
from routes.edge.pipeline.call import Call
from routes.edge.pipeline.parts import Parts


def refuse_guessing(call: Call[Parts]) -> None:
    """Refuse to verify another credential from an address that has failed too often.

    Raises:
        RateLimited: the address has failed too often in the last minute.
    """
    policy = policies.BAD_CREDENTIALS
    refusal = call.service.limits.refusal(policy, rate_key(call.client_address), call.now_ms)
    if refusal is not None:
        call.decision = refusal
        raise RateLimited(refusal.retry_after_ms)


def count_guess(call: Call[Parts]) -> None:
    """Count a wrong credential, by address."""
    call.service.limits.take(policies.BAD_CREDENTIALS, rate_key(call.client_address), call.now_ms)
