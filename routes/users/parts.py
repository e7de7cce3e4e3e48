"""The parts of users: the directory, presence, the rights of open streams, and erasures under way."""

from actors.users.presence import GRACE_MS, Presence
from actors.users.users import Users
from routes.live.rights import Rights
from routes.part import Opening, Part


async def _open_users(opening: Opening) -> Users:
    users = Users(opening.database, opening.clock, opening.random_bytes)
    await users.open()
    return users


async def _open_presence(opening: Opening) -> Presence:
    presence = Presence(opening.clock, opening.begun_at_ms)
    last_seen = (await opening.of(USER_DIRECTORY)).last_seen

    def moved(user_id: str, online: bool) -> None:
        gone_at_ms = None if online else presence.offline_since_ms(user_id)
        if gone_at_ms is not None:
            last_seen.note_until(user_id, gone_at_ms - GRACE_MS)

    presence.on_change(moved)  # before all others, who show when the user was last seen
    return presence


async def _open_rights(opening: Opening) -> Rights:
    return Rights(await opening.of(USER_DIRECTORY))


USER_DIRECTORY = Part(name="users", open=_open_users)
"""Users in memory, and their rights."""

PRESENCE = Part(name="presence", open=_open_presence)
"""Which users are online."""

RIGHTS = Part(name="rights of open streams", open=_open_rights)
"""Notifies open streams when their user's rights have changed."""
