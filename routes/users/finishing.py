"""Has an erasure finished by one run at a time, on whichever node: once one has finished it the user may come back, and
what another still does would take them out of what they have begun since.

The job that finishes erasures moves from node to node, and the last run of the former node goes on. So a run claims the
erasure in its row, and prolongs the claim while it works. One that cannot is ended while the claim still lasts, so that
whatever it has asked of actors and other nodes is over before the next one begins.
"""

from collections.abc import Awaitable, Callable

import structlog
import trio

from persistence.errors import PersistenceError
from persistence.users import erasure
from persistence.users.erasure import Erasure
from routes.changes import change_by_itself
from routes.service import Service

CLAIM_SECONDS = 40.0
"""How long an erasure waits at most after the node that was about to finish it has gone."""

PROLONG_SECONDS = 5.0
"""How often a claim is prolonged."""

WORK_SECONDS = 20.0
"""How long a run goes on without a prolonged claim. What it has asked an actor just before is answered, done or dropped
within the rest of it."""

RELEASE_SECONDS = 2.0
"""How long a run that ends early takes to leave the erasure to others."""

log = structlog.get_logger()


async def finish_alone(service: Service, one: Erasure, run: Callable[[], Awaitable[None]]) -> bool:
    """Finish an erasure, unless another run is doing so.

    Args:
        one: the erasure.
        run: does all that belongs to it; may be called again after it was cancelled or has failed.

    Returns:
        Whether it is finished now; False where another run finishes it, or has.

    Raises: what `run` raises, and what the database does.
    """
    claimed_at = trio.current_time()
    until_ms = await change_by_itself(service, erasure.claim, one, CLAIM_SECONDS, about=None)
    if until_ms is None:
        return False
    claim = _Claim(service, one.user_id, until_ms)
    is_finished = False
    try:
        if await claim.hold_during(run, claimed_at + WORK_SECONDS):
            is_finished = await change_by_itself(service, erasure.finish, one, claim.until_ms, about=None)
        else:
            log.warning("an erasure is left to another run", user_id=one.user_id)
    finally:
        if not is_finished:
            await claim.release()
    return is_finished


class _Claim:
    """A claim of an erasure.

    Args:
        until_ms: when it ends by itself, epoch milliseconds by the database's clock.
    """

    def __init__(self, service: Service, user_id: str, until_ms: int) -> None:
        self.until_ms = until_ms
        self._service = service
        self._user_id = user_id

    async def hold_during(self, run: Callable[[], Awaitable[None]], work_until: float) -> bool:
        """Run a function, and prolong the claim meanwhile; returns whether the function has come to its end.

        Args:
            work_until: until when it may run without a prolonged claim, in trio's seconds.
        """
        has_ended = False
        try:
            async with trio.open_nursery() as nursery:
                nursery.cancel_scope.deadline = work_until
                nursery.start_soon(self._prolong, nursery.cancel_scope)
                await run()
                has_ended = True
                nursery.cancel_scope.cancel()
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        return has_ended

    async def release(self) -> None:
        """Leave the erasure to others, also under cancellation; if that fails, they wait for the claim's end."""
        with trio.move_on_after(RELEASE_SECONDS, shield=True):
            try:
                await change_by_itself(
                    self._service, erasure.release, self._user_id, self.until_ms, about=None
                )
            except PersistenceError as failure:
                log.warning("an erasure is held up", user_id=self._user_id, reason=type(failure).__name__)

    async def _prolong(self, running: trio.CancelScope) -> None:
        while True:
            await trio.sleep(PROLONG_SECONDS)
            asked_at = trio.current_time()
            # A claim is known by its end, so that nobody must be interrupted who moves it.
            with trio.CancelScope(shield=True):
                try:
                    until_ms = await change_by_itself(
                        self._service,
                        erasure.prolong,
                        self._user_id,
                        self.until_ms,
                        CLAIM_SECONDS,
                        about=None,
                    )
                except PersistenceError:
                    continue
            if until_ms is None:
                running.cancel()
                return
            self.until_ms = until_ms
            running.deadline = asked_at + WORK_SECONDS
