"""Counts the bytes that a user's game servers are given to keep, beside the rates, which count requests.

Each server keeps megabytes of settings, commands and results, and a user may have a thousand servers: with results of
64 KiB alone these could send 4 GB a minute to be written. So what is beyond the first KiB of each body counts for the
owner where a server sends it, whichever of the owner's it is, and else for the user who sends it.
"""

from routes.call import Call
from routes.counting import charge
from routes.edge.principal import ServerPrincipal
from routes.rates import CONNECT_BYTES

FREE_BYTES = 1024
"""Bytes of each body that cost nothing: the rates alone count small ones."""


def charge_body(call: Call) -> None:
    """Charge the caller, or the owner of the server that calls, for the body of a request.

    Raises:
        RateLimited: they have sent too much.
    """
    charge(call, CONNECT_BYTES, _who_pays(call), len(call.data or b"") - FREE_BYTES)


def _who_pays(call: Call) -> str:
    principal = call.principal
    if not isinstance(principal, ServerPrincipal):
        return f"owner:{call.user_id}"
    return principal.key if principal.owner_id is None else f"owner:{principal.owner_id}"
