"""The part that knows the party of each user: loaded from rows at the start, then updated by events."""

from actors.party.memberships import Memberships
from persistence.party.rows import memberships as stored_memberships
from routes.part import Opening, Part


async def _open(opening: Opening) -> Memberships:
    return Memberships(await opening.database.read(stored_memberships))


MEMBERSHIPS = Part(name="memberships of parties", open=_open)
"""The party of each user."""
