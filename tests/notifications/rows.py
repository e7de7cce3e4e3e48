"""Notifications and users as rows, for tests of these rows."""

import msgspec

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.notifications.notifications import NewNotification, add
from persistence.users.users import arrive

NOW_MS = 1_700_000_000_000


def user(number: int) -> str:
    """The id of a user, by their number."""
    return f"00000000-0000-4000-8000-{number:012d}"


def notification(
    number: int,
    user_id: str = user(1),
    *,
    kind: str = "friend_accepted",
    actor_id: str | None = None,
    at_ms: int = NOW_MS,
) -> NewNotification:
    """A notification to be added, whose id is made of the number. Each is caused by another user, unless `actor_id`
    names one."""
    data = msgspec.json.encode({"n": number})
    return NewNotification(f"{number:024x}", user_id, kind, actor_id or user(90_000 + number), data, at_ms)


async def make_users(database: Database, *numbers: int) -> None:
    """Make users, each a millisecond younger than the one with the next smaller number."""

    async def unit(conn: Connection) -> None:
        for number in numbers:
            await arrive(conn, user(number), f"user{number}", issued_at_s=0, now_ms=NOW_MS + number)

    await database.transact(unit)


async def added(database: Database, *rows: NewNotification) -> None:
    """Add notifications in one transaction."""
    await database.transact(add, rows)
