"""Ends the sessions of users who may no longer talk (contract §2)."""

from actors.errors import NotFound
from routes.jobs import OneOfMany
from routes.service import Service
from routes.users.parts import USER_DIRECTORY
from routes.voice.channels import WRITE
from routes.voice.parts import ATTENDANCE


async def look_at_rights(service: Service) -> None:
    """Read the rights of users in voice whose rights may have changed, and doom the sessions of users who lost them.

    Cancellation leaves the rest for the next time.

    Raises:
        DatabaseUnavailable, QueueFull: rights cannot be read; those that are left are asked about next time.
    """
    for user_id in tuple(service.of(ATTENDANCE).suspects):
        with OneOfMany("reading rights of a user in voice", user_id, service.housekeeping.failing):
            await _look_at(service, user_id)


async def _look_at(service: Service, user_id: str) -> None:
    attendance = service.of(ATTENDANCE)
    attendance.suspects.discard(user_id)
    try:
        access = await service.of(USER_DIRECTORY).access_of(user_id)
    except NotFound:  # erased
        attendance.doom(user_id, "REMOVED")
    except BaseException:
        attendance.suspect(user_id)
        raise
    else:
        if not access.allows(WRITE):
            attendance.doom(user_id, "REMOVED")
