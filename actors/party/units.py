"""Making a party, or finding the one that the user is in: one transaction, since nothing is live yet (contract §6)."""

import msgspec

from actors.change import Change
from actors.errors import Conflict
from actors.ids import UserId, Uuid
from actors.party import loading
from actors.party.state import State
from actors.users.locking import require_user
from persistence.connection import Connection
from persistence.party import rows
from persistence.party.rows import PartyRow


class PartyCreation(msgspec.Struct, frozen=True):
    """A party to be made, unless its founder is in one.

    Args:
        actor_id: the founder.
        party_id: a fresh uuid.
        epoch: a fresh short name for the party's history.
    """

    actor_id: UserId
    party_id: Uuid
    epoch: str
    now_ms: int


class PartyMade(msgspec.Struct, frozen=True):
    """A user's party was made, or was found in rows where memory may not have it yet.

    Args:
        is_new: whether it was made. Members of a party that was found may have left since the rows were read.
    """

    party_id: str
    user_id: str
    is_new: bool


async def create_party(conn: Connection, creation: PartyCreation) -> Change[State]:
    """Make the actor's party, or find the one that they are in; inside a transaction.

    Raises:
        NotFound: there is no such user.
        Conflict: the actor has joined a party meanwhile.
    """
    # Whoever makes one and the same user a party at the same time waits here.
    user = await require_user(conn, creation.actor_id)
    present = await rows.party_of(conn, creation.actor_id)
    found = None if present is None else await loading.load(conn, present)
    # Between the two reads a turn may have ended the party, or let the user leave it.
    if found is not None and creation.actor_id in found.members:
        return Change(found, (PartyMade(found.id, creation.actor_id, is_new=False),))
    row = PartyRow(creation.party_id, user.id, user.name, creation.now_ms)
    state = loading.new_party(row, creation.epoch)
    summary = loading.summary_of(state)
    if not await rows.insert_party(conn, row, epoch=creation.epoch, summary=summary, due_at_ms=None):
        raise Conflict("you have just joined another party")
    return Change(state, (PartyMade(state.id, creation.actor_id, is_new=True),))
