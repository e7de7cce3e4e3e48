"""Who is in which party, as rows say at the start and events from then on."""

from actors.party.memberships import Memberships
from persistence.party.rows import memberships as stored_memberships
from routes.part import Opening, Part


async def _open(opening: Opening) -> Memberships:
    return Memberships(await opening.database.read(stored_memberships))


MEMBERSHIPS = Part(name="memberships of parties", open=_open)
"""Who is in which party."""
