"""A voice channel from its rows, and from its snapshot."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from actors.voice.state import MAX_PARTY, MAX_PRIVATE, Control, Session, State, Summary, in_order
from persistence.connection import Connection
from persistence.journal import journal
from persistence.voice import channels
from persistence.voice.channels import ChannelRow

VERSION = 1
"""The version of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

_encoder = msgspec.msgpack.Encoder()
_states = msgspec.msgpack.Decoder(State)
_summaries = msgspec.msgpack.Decoder(Summary)


def dump(state: State) -> bytes:
    """Encode the state as a snapshot, without what lives in memory only, or in rows."""
    return _encoder.encode(replace(state, sessions={}, looked_up=None))


def restore(kept: bytes) -> State:
    """Decode the state that `dump` has encoded, without its sessions."""
    return _states.decode(kept)


def summary_of(state: State) -> bytes:
    """The channel's summary as the head row keeps it, from which `load` begins."""
    return _encoder.encode(Summary(state.node_id, state.control, state.removals, state.empty_since_ms))


def new_channel(row: ChannelRow, node_id: str) -> State:
    """A new channel, which is empty."""
    return State(
        id=row.id,
        revision=1,
        low_id=row.low_id,
        high_id=row.high_id,
        party_id=row.party_id,
        created_at_ms=row.created_at_ms,
        node_id=node_id,
        control=Control(False, (), MAX_PRIVATE if row.party_id is None else MAX_PARTY),
        empty_since_ms=row.created_at_ms,
    )


async def load(conn: Connection, channel_id: str) -> State | None:
    """The state from rows alone; None when there is no such channel."""
    row = await channels.read(conn, channel_id)
    head = await journal.read_head(conn, channels.KIND, channel_id)
    if row is None or head is None:
        return None
    kept = _summaries.decode(head.summary)
    state = State(
        id=row.id,
        revision=head.seq + 1,
        low_id=row.low_id,
        high_id=row.high_id,
        party_id=row.party_id,
        created_at_ms=row.created_at_ms,
        node_id=kept.node_id,
        control=kept.control,
        empty_since_ms=kept.empty_since_ms,
        removals=kept.removals,
    )
    return await refresh(conn, channel_id, state)


async def load_some(conn: Connection, channel_ids: Sequence[str]) -> list[State]:
    """The states of these channels from rows, without channels that do not exist."""
    found = [await load(conn, channel_id) for channel_id in channel_ids]
    return [state for state in found if state is not None]


async def refresh(conn: Connection, channel_id: str, state: State) -> State:
    """The state with the sessions that rows have now."""
    if state.ended:
        return state
    rows = await channels.sessions_of(conn, channel_id)
    sessions = in_order(
        Session(
            session_id=row.session_id,
            user_id=row.user_id,
            self_mute=row.self_mute,
            self_deaf=row.self_deaf,
            joined_at_ms=row.joined_at_ms,
            issued_at_ms=row.issued_at_ms,
            name=row.name,
        )
        for row in rows
    )
    empty_since_ms = None if sessions else await _empty_since_ms(conn, state)
    return replace(state, sessions=sessions, empty_since_ms=empty_since_ms)


async def _empty_since_ms(conn: Connection, state: State) -> int:
    """Since when a channel is empty. Its head says so, and not a snapshot, which knows no sessions; where its last
    session was replaced by one elsewhere and it was not told, since its beginning.
    """
    head = await journal.read_head(conn, channels.KIND, state.id)
    kept = None if head is None else _summaries.decode(head.summary).empty_since_ms
    return state.created_at_ms if kept is None else kept
