"""Counts the bytes that a user's game servers are given to keep, beside the rates, which count requests.

Each server keeps megabytes of settings, commands and results, and a user may have a thousand servers: with results of
64 KiB alone these could send 4 GB a minute to be written. So what is beyond the first KiB of each body counts for the
owner where a server sends it, whichever of the owner's it is, and else for the user who sends it.
"""

from routes.call import Call
from routes.edge.errors import RateLimited
from routes.edge.principal import ServerPrincipal
from routes.rates import CONNECT_BYTES

FREE_BYTES = 1024
"""Bytes of each body that cost nothing: the rates alone count small ones."""


def charge(call: Call) -> None:
    """Charge the caller, or the owner of the server that calls, for the body of a request.

    Raises:
        RateLimited: they have sent too much; the answer's RateLimit headers tell of that.
    """
    excess = len(call.data or b"") - FREE_BYTES
    if excess <= 0:
        return
    refusal = call.service.limits.charge(CONNECT_BYTES, _who_pays(call), call.now_ms, excess)
    if refusal is not None:
        call.decision = refusal
        raise RateLimited(refusal.retry_after_ms)


def _who_pays(call: Call) -> str:
    principal = call.principal
    if not isinstance(principal, ServerPrincipal):
        return f"owner:{call.user_id}"
    return principal.key if principal.owner_id is None else f"owner:{principal.owner_id}"
