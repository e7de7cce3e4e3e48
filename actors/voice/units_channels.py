"""Making a voice channel, or finding the one that is there: one transaction, since nothing is live yet."""

import msgspec

from actors.change import Change
from actors.errors import Blocked, NotFound
from actors.users.locking import require_user
from actors.voice import loading
from actors.voice.state import State
from persistence.connection import Connection
from persistence.friends import blocks
from persistence.party import rows as parties
from persistence.users.names import read_names
from persistence.voice import channels
from persistence.voice.channels import ChannelRow


class ChannelCreation(msgspec.Struct, frozen=True):
    """A channel to be made, unless there is one.

    Args:
        user_id: the user who asks for it.
        channel_id: a fresh uuid.
        epoch: a fresh short name for the channel's history.
        target_id: the other user of a private channel; None for the channel of a party.
        party_id: the party that the user is in; None for a private channel.
        node_id: the node that is to carry it; None when there is no node for it.
    """

    user_id: str
    channel_id: str
    epoch: str
    target_id: str | None
    party_id: str | None
    node_id: str | None
    now_ms: int


class ChannelMade(msgspec.Struct, frozen=True):
    """A channel was made, or was found in rows where memory may not have it yet."""

    state: State


class Founded(msgspec.Struct, frozen=True):
    """The channel that was made or found, and whether it is new."""

    state: State
    is_new: bool


async def found(conn: Connection, creation: ChannelCreation) -> Change[Founded | None]:
    """Make the channel of the two users or of the party, or find it, inside a transaction; the value is None where
    there is no channel, and no node to carry one.

    Raises:
        NotFound: there is no such user, or the user is not in the party.
        Blocked: one of the two users has blocked the other.
    """
    await require_user(conn, creation.user_id)
    target_id, pair = creation.target_id, None
    if target_id is not None:
        if not await read_names(conn, (target_id,)):
            raise NotFound("no such user")
        if await blocks.barred_among(conn, creation.user_id, (target_id,)):
            raise Blocked
        low_id, high_id = sorted((creation.user_id, target_id))
        pair = low_id, high_id
    elif await parties.party_of(conn, creation.user_id) != creation.party_id:
        raise NotFound("you are in no party")
    present = await channels.find(conn, pair, creation.party_id)
    if present is None and creation.node_id is None:
        return Change(None)
    if present is None and creation.node_id is not None:
        low, high = pair or (None, None)
        row = ChannelRow(creation.channel_id, low, high, creation.party_id, creation.now_ms)
        state = loading.new_channel(row, creation.node_id)
        summary = loading.summary_of(state)
        if await channels.insert(conn, row, epoch=creation.epoch, summary=summary, due_at_ms=None):
            return Change(Founded(state, is_new=True), (ChannelMade(state),))
        present = await channels.find(conn, pair, creation.party_id)  # another has just made it
    known = None if present is None else await loading.load(conn, present)
    if known is None:
        raise NotFound("the channel has just ended; try again")
    return Change(Founded(known, is_new=False), (ChannelMade(known),))
