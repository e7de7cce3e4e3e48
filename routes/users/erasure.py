"""Erasing a user, and the job that completes it afterwards (contract §8).

What a domain does for it is in its Domain record: `let_go` before, `forget_user` afterwards.
"""

from contextlib import suppress
from functools import partial

import structlog

from actors.errors import Conflict, Forbidden, NotFound, Parked
from actors.ids import UserId, Uuid
from actors.kernel.mailbox import Failure
from actors.kernel.supervisor import Fault
from actors.users import units_erasure
from actors.users.units_erasure import StillHeld
from persistence.users import erasure
from persistence.users.users import read_user
from routes.auditing import stamp_of
from routes.call import Call
from routes.changes import change
from routes.edge.declare.endpoint import endpoint
from routes.edge.principal import SUPER_ADMIN
from routes.jobs import OneOfMany
from routes.service import Service
from routes.users.finishing import finish_alone
from routes.users.reactions import ErasureOf

log = structlog.get_logger()

SWEPT_AT_ONCE = 10

TRIES = 3
"""How often letting a user go is tried at most, if they join things meanwhile or something that they are in fails; then
they are erased all the same."""

LETTING_GO_SECONDS = 5.0
"""How much longer than others a request that erases a user may take, since game servers and DNS providers are asked."""


@endpoint("DELETE", "/v1/admin/users/{userId}", needs=SUPER_ADMIN, refusals=(NotFound, Forbidden, Conflict))
async def erase_user(call: Call, user_id: UserId) -> None:
    """Erases a user for good.

    Profile, rights, friendships, attachments, capes, shares, networks and game servers are deleted; the DNS records of
    networks and servers go as far as the provider answers within three seconds. They leave groups. Their messages stay,
    and direct conversations stay with the other; there they are called `deleted`. Their tokens are no longer accepted.
    One that is issued later makes a new user, who has nothing of this one, as soon as all of that is done. A game
    server, a party or a voice channel at fault keeps nobody from being erased. Erasing oneself, or the last
    super-admin, is a 409; whoever has been dismissed or erased meanwhile is a 403. Answers 204.
    """
    for tries_left in reversed(range(TRIES)):
        if user_id != call.user_id and await call.service.database.read(read_user, user_id) is not None:
            call.wait_longer(LETTING_GO_SECONDS)
            await _let_go(call.service, user_id)
        unit = partial(units_erasure.erase, even_if_held=tries_left == 0)
        with suppress(StillHeld):
            stamp = stamp_of(call)
            await change(call, unit, user_id, stamp, about=ErasureOf(user_id, stamp.at_ms))
            return


async def sweep_erased(service: Service) -> bool:
    """Finish erasures: replace the users' names in messages and in what others were sent about them; run as a job.

    A user for whom a step fails stays queued and is started again by the next run; the others are processed. Nobody
    comes back before their erasure is finished.

    Returns:
        False if an erasure is left that another run has begun to finish.

    Raises:
        DatabaseUnavailable, QueueFull: the database cannot be asked; the rest waits for the next run.
        RowsRejected, Fault, Refused: the failure of the last user who could not be finished, after all were tried.
    """
    failure: Failure | None = None
    all_done = True
    after: tuple[int, str] | None = (-1, "")
    while after is not None:
        erasures, after = await service.database.read(erasure.unswept, after, SWEPT_AT_ONCE)
        for one in erasures:
            # It logs whom a failure concerns, since that user is refused until the erasure is finished.
            with OneOfMany("finishing an erasure", one.user_id, service.housekeeping.failing) as finishing:
                all_done &= await finish_alone(
                    service, one, partial(_forget, service, UserId(Uuid(one.user_id)))
                )
            failure = finishing.failure or failure
    if failure is not None:
        raise failure
    return all_done


async def _forget(service: Service, user_id: UserId) -> None:
    # In reverse order of the domains: conversations and parties first, since notifications and receipts copy their
    # texts, and would otherwise copy the name again. Where one fails the rest is done as well, and all of it once more
    # by the next run.
    failure: Failure | None = None
    for forget_user in service.forget_user:
        doing = f"forgetting a user ({forget_user.__module__})"
        with OneOfMany(doing, user_id, service.housekeeping.failing) as forgetting:
            await forget_user(service, user_id)
        failure = forgetting.failure or failure
    if failure is not None:
        raise failure


async def _let_go(service: Service, user_id: UserId) -> None:
    for let_go in service.let_go:
        try:
            await let_go(service, user_id)
        except (Fault, Parked):
            # An actor that fails has lost its state, and reads it anew from rows that then no longer have the user. So
            # the user is erased all the same, after the last try: else nobody could erase them until it is repaired.
            log.warning("a user is not let go by what fails", user_id=user_id, by=let_go.__module__)
