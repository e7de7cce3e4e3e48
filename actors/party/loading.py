"""A party from its rows, from its snapshot, and as it was at each revision."""

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from actors.party.apply import apply
from actors.party.events import AnyEvent
from actors.party.state import NOT_READY, Invite, Member, State, Summary
from persistence.connection import Connection
from persistence.journal import journal
from persistence.party import rows
from persistence.party.rows import InviteRow, PartyRow

VERSION = 1
"""The version of the snapshot's encoding; to be raised when `State` changes its shape or meaning."""

REPLAYED = 1_000
"""Most events from which missed revisions are made again; a client that would need more takes a snapshot."""

REPLAYED_BYTES = 256 * 1024
"""Most encoded bytes of those events. They are decoded on the thread that also writes, and one byte of `requiredMods`,
which may be any JSON, can be a list of 64 bytes: this is some 25 ms of everybody's time at worst, and 16 MB."""

_encoder = msgspec.msgpack.Encoder()
_states = msgspec.msgpack.Decoder(State)
_summaries = msgspec.msgpack.Decoder(Summary)
_events: msgspec.msgpack.Decoder[AnyEvent] = msgspec.msgpack.Decoder(AnyEvent)


def dump(state: State) -> bytes:
    """Encode the state as a snapshot, without the fields that live in memory only."""
    return _encoder.encode(replace(state, erased=0, expected={}, trail=(), looked_up=None))


def restore(kept: bytes) -> State:
    """Decode the state that `dump` has encoded."""
    return _states.decode(kept)


def summary_of(state: State) -> bytes:
    """The party's summary as the head row keeps it, from which `load` begins."""
    members = state.members.values()
    return _encoder.encode(
        Summary(
            leader_id=state.leader_id,
            updated_at_ms=state.updated_at_ms,
            lobby=state.lobby,
            ready={member.user_id: member.ready for member in members if member.ready != NOT_READY},
            absent={
                member.user_id: member.offline_since_ms
                for member in members
                if member.offline_since_ms is not None
            },
        )
    )


def new_party(row: PartyRow, epoch: str) -> State:
    """A new party, with its founder as only member and leader."""
    founder = Member(user_id=row.founder_id, name=row.founder_name, joined_at_ms=row.created_at_ms)
    return State(
        id=row.id,
        epoch=epoch,
        revision=1,
        founder_id=row.founder_id,
        leader_id=row.founder_id,
        created_at_ms=row.created_at_ms,
        updated_at_ms=row.created_at_ms,
        members={row.founder_id: founder},
        invites={},
        erased=row.erased,
    )


async def load(conn: Connection, party_id: str) -> State | None:
    """The state from rows alone; None when there is no such party."""
    row = await rows.read(conn, party_id)
    head = await journal.read_head(conn, rows.KIND, party_id)
    if row is None or head is None:
        return None
    kept = _summaries.decode(head.summary)
    state = replace(
        new_party(row, head.epoch),
        revision=head.seq + 1,
        leader_id=kept.leader_id,
        updated_at_ms=kept.updated_at_ms,
        lobby=kept.lobby,
        invites={one.target_id: invite_of(one) for one in await rows.invites_of(conn, party_id)},
    )
    return await _with_members(conn, state, kept)


async def refresh(conn: Connection, party_id: str, state: State) -> State:
    """The state with the names of members, who of them is offline, and how many users were erased, as rows say now."""
    row = await rows.read(conn, party_id)
    head = await journal.read_head(conn, rows.KIND, party_id)
    if state.ended or row is None or head is None:
        return state
    return await _with_members(conn, replace(state, erased=row.erased), _summaries.decode(head.summary))


async def _with_members(conn: Connection, state: State, kept: Summary) -> State:
    members = {
        row.user_id: Member(
            user_id=row.user_id,
            name=row.name,
            joined_at_ms=row.joined_at_ms,
            ready=kept.ready.get(row.user_id, NOT_READY),
            offline_since_ms=kept.absent.get(row.user_id),
        )
        for row in await rows.members_of(conn, state.id)
    }
    return replace(state, members=members)


async def replay(conn: Connection, party_id: str, after: int, upto: int) -> list[tuple[int, State]] | None:
    """The party at each revision above `after` up to `upto`; None when its journal does not reach back that far, or has
    more than `REPLAYED` events or `REPLAYED_BYTES`.

    The party is made again from its beginning, because an event says only what has changed, and viewers are shown the
    whole party.

    Args:
        after: the revision that the caller has, from 1.
        upto: the last revision that is wanted, from 1.

    Cancellation ends the reads.
    """
    if upto > REPLAYED + 1:
        return None
    row = await rows.read(conn, party_id)
    head = await journal.read_head(conn, rows.KIND, party_id)
    if row is None or head is None:
        return None
    # What was journaled after the last one wanted counts as well: that is little, and spares another query.
    kept = await journal.read_events_within(
        conn, rows.KIND, party_id, after=0, limit=REPLAYED, bytes_max=REPLAYED_BYTES
    )
    if kept is None or [one.seq for one in kept[: upto - 1]] != list(range(1, upto)):
        return None
    return revisions(
        new_party(row, head.epoch), (_events.decode(one.event) for one in kept[: upto - 1]), after
    )


def revisions(state: State, events: Iterable[AnyEvent], after: int) -> list[tuple[int, State]]:
    """The states that events lead to, with their revisions: those above the revision `after`.

    Args:
        state: the state before the first event.
        events: the events in order; each is taken from the iterable once the one before was applied.
        after: the revision that the caller has.
    """
    states: list[tuple[int, State]] = []
    for event in events:
        state = replace(apply(state, event), trail=())
        if state.revision > after:
            states.append((state.revision, state))
    return states


def invite_of(row: InviteRow) -> Invite:
    """The invite of a row."""
    return Invite(
        party_id=row.party_id,
        target_id=row.target_id,
        target_name=row.target_name,
        sender_id=row.sender_id,
        sender_name=row.sender_name,
        created_at_ms=row.created_at_ms,
        expires_at_ms=row.expires_at_ms,
        lapsed=row.lapsed,
    )
