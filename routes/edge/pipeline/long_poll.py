"""How a long poll waits: only as long as its client is there.

A request that changes something has `ABANDON_SECONDS` to end after its client has gone. A request that only waits ends
at once, so that what it waits for goes to a client that is still there.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol, TypeVar

import trio

from routes.edge.declare.route import Route
from routes.edge.incoming import FarEnd, Incoming

T = TypeVar("T")


class Checks(Protocol):
    """The checks of callers (`gate.py`), for a request that has passed them and waited since."""

    async def pass_again(self, call: Any, route: Route, incoming: Incoming) -> object:
        """Check the caller of a request as if it came now; sets the call's time, principal and subject anew.

        Cancellation changes nothing.

        Args:
            call: the call of a request that has passed before.
            route: the declared route.
            incoming: the request.

        Raises:
            Refused: by the first check that fails.
            PersistenceError: what a check needs is not in memory and cannot be read.
        """
        ...


async def while_there(
    far_end: FarEnd | None, waits: Callable[[float], Awaitable[T]], seconds: float
) -> T | None:
    """Wait for an event, or until the client has gone. Cancellation ends the wait.

    Args:
        far_end: tells whether the client is still there; None where nothing can tell.
        waits: `async def waits(seconds)`; waits for at most so long.
        seconds: how long to wait, at least 0.

    Returns:
        What `waits` returns; None where the client has gone before.

    Raises: what `waits` raises.
    """
    if far_end is None or seconds <= 0:
        return await waits(seconds)
    happened: T | None = None
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_leave, far_end, nursery.cancel_scope)
            happened = await waits(seconds)
            nursery.cancel_scope.cancel()
    except ExceptionGroup as group:
        raise group.exceptions[0] from None
    return happened


async def _leave(far_end: FarEnd, waiting: trio.CancelScope) -> None:
    await far_end.until_gone()
    waiting.cancel()
