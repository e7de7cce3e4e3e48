"""The parts of friends: relations between users in memory, and flame streaks."""

from actors.friends.circles import Circles
from actors.friends.live import FriendsLive
from actors.friends.streaks import Streaks
from actors.friends.visibility import Stored, Visibilities
from persistence.bridge.database import Database
from persistence.friends.blocks import parted
from persistence.friends.visibilities import veiled
from routes.part import Opening, Part
from routes.party.memberships import MEMBERSHIPS
from routes.users.parts import PRESENCE, USER_DIRECTORY


async def read_stored(database: Database) -> Stored:
    """Read all visibilities and blocks: who hides from whom, and which pairs of users a block parts.

    Raises:
        PersistenceError: the rows cannot be read.
    """
    return Stored(await database.read(veiled), await database.read(parted))


async def _open_live(opening: Opening) -> FriendsLive:
    database, visibilities = opening.database, Visibilities()
    visibilities.fill(await read_stored(database))
    presence, memberships = await opening.of(PRESENCE), await opening.of(MEMBERSHIPS)
    return FriendsLive(
        presence,
        await opening.of(USER_DIRECTORY),
        visibilities,
        opening.clock.now_ms,
        party_of=memberships.of,
        circles=Circles(database, presence.is_looking),
    )


async def _open_streaks(opening: Opening) -> Streaks:
    friends = await opening.of(FRIENDS_LIVE)
    return Streaks(opening.database, friends.streak_changed)


FRIENDS_LIVE = Part(name="friends", open=_open_live)
"""How users appear to each other, and the view of a user's friends."""

STREAKS = Part(name="streaks", open=_open_streaks)
"""The days on which two friends were in touch."""
