"""What parties read from rows, in memory: the kind's loading and looking up, and each user's own view.

`simulated_party` is the real kind and the real view over these reads. That the reads give what SQL gives is tested
against PostgreSQL (`test_parties_like_postgres.py`).
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace as replace_fields

import msgspec
from msgspec.structs import replace

from actors.change import Change
from actors.friends.public import Appearance
from actors.kernel.facets import Unjournaled
from actors.kernel.kind import Durable
from actors.party import own_view
from actors.party.events import AnyEvent
from actors.party.kind import PartyKinds, party_kinds
from actors.party.loading import invite_of, new_party, revisions
from actors.party.memberships import Memberships
from actors.party.own_view import OwnParty
from actors.party.render_cache import RenderCache
from actors.party.rules_members import IsOnline
from actors.party.state import NOT_READY, LookedUp, Member, State, Summary
from actors.party.units import PartyCreation, PartyMade
from persistence.party.rows import PartyRow
from tests.simulation.chat_rows import USERS
from tests.simulation.party_rows import KIND, Rows, all_parties, insert_party, party_of, persist
from tests.simulation.tables import Tables

_summaries = msgspec.msgpack.Decoder(Summary)
_events: msgspec.msgpack.Decoder[AnyEvent] = msgspec.msgpack.Decoder(AnyEvent)


def simulated_party(is_online: IsOnline, now_ms: Callable[[], int], memberships: Memberships) -> PartyKinds:
    """The kind and the view of parties over rows in memory; members look the same whether online or not."""
    looks = RenderCache(_looks, lambda _viewer, _members: frozenset(), lambda: 0)
    kinds = party_kinds(is_online, looks, now_ms, memberships)
    assert kinds.party.lookups is not None
    party = replace_fields(
        kinds.party,
        load=load,
        persist=persist,
        lookups=replace_fields(kinds.party.lookups, fetch=fetch),
        unjournaled=Unjournaled(refresh=refresh),
    )
    durable = Durable(position=own_view.position, replay=replay, recall=own_view.recall)
    own = replace_fields(
        kinds.own, load=load_own, load_many=load_own_many, reread=reread_own, durable=durable
    )
    return replace_fields(kinds, party=party, own=own)


def _looks(_user_id: str, _viewer_id: str) -> Appearance:
    return Appearance(online=False, status="ONLINE", party_id=None, last_seen_at=None)


async def stored_memberships(tables: Tables) -> list[tuple[str, str]]:
    """`rows.memberships`."""
    return [(user_id, id) for id, kept in all_parties(tables) for user_id in kept.members]


async def create_party(tables: Tables, creation: PartyCreation) -> Change[State]:
    """`units.create_party`, of a user who exists."""
    present = party_of(tables, creation.actor_id)
    is_new = present is None
    if present is None:
        name = tables.rows[USERS][creation.actor_id]
        present = creation.party_id
        await insert_party(
            tables, PartyRow(present, creation.actor_id, name, creation.now_ms), creation.epoch
        )
    state = await load(tables, present)
    assert state is not None
    return Change(state, (PartyMade(state.id, creation.actor_id, is_new),))


async def load(tables: Tables, id: str) -> State | None:
    """`loading.load`."""
    kept: Rows | None = tables.rows.get((KIND, id))
    head = tables.heads.get((KIND, id))
    if kept is None or head is None:
        return None
    summary = _summaries.decode(head.summary)
    sent = sorted(kept.invites.values(), key=lambda one: (one.created_at_ms, one.target_id))
    state = replace(
        new_party(kept.row, head.epoch),
        revision=head.seq + 1,
        leader_id=summary.leader_id,
        updated_at_ms=summary.updated_at_ms,
        lobby=summary.lobby,
        invites={one.target_id: invite_of(one) for one in sent},
    )
    return _with_members(tables, state, summary)


async def refresh(tables: Tables, id: str, state: State) -> State:
    """`loading.refresh`."""
    kept: Rows | None = tables.rows.get((KIND, id))
    head = tables.heads.get((KIND, id))
    if state.ended or kept is None or head is None:
        return state
    return _with_members(tables, replace(state, erased=kept.row.erased), _summaries.decode(head.summary))


def _with_members(tables: Tables, state: State, summary: Summary) -> State:
    kept: Rows | None = tables.rows.get((KIND, state.id))
    joined = {} if kept is None else kept.members
    members = {
        id: Member(
            user_id=id,
            name=tables.rows[USERS][id],
            joined_at_ms=joined[id],
            ready=summary.ready.get(id, NOT_READY),
            offline_since_ms=summary.absent.get(id),
        )
        for id in sorted(joined, key=lambda id: (joined[id], id))
    }
    return replace(state, members=members)


async def fetch(tables: Tables, _party_id: str, missing: tuple[str, str]) -> LookedUp:
    """`lookups.fetch`, without blocks."""
    user_id, _ = missing
    return LookedUp(user_id, tables.rows[USERS].get(user_id), False, party_of(tables, user_id))


async def in_rows(tables: Tables, party_id: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members of a party, and who is invited."""
    kept: Rows | None = tables.rows.get((KIND, party_id))
    return ((), ()) if kept is None else (tuple(kept.members), tuple(kept.invites))


async def party_in_rows(tables: Tables, user_id: str) -> str | None:
    """`rows.party_of`."""
    return party_of(tables, user_id)


async def load_own(tables: Tables, user_id: str) -> OwnParty:
    """`own_view.load`."""
    present = party_of(tables, user_id)
    party = None if present is None else await load(tables, present)
    invited = [
        one
        for _, kept in all_parties(tables)
        for one in kept.invites.values()
        if one.target_id == user_id and not one.lapsed
    ]
    invited.sort(key=lambda one: (one.created_at_ms, one.party_id))
    return OwnParty(user_id, party, {one.party_id: invite_of(one) for one in invited})


async def load_own_many(tables: Tables, user_ids: Sequence[str]) -> dict[str, OwnParty]:
    """`own_view.load_many`."""
    return {user_id: await load_own(tables, user_id) for user_id in user_ids}


async def reread_own(tables: Tables, user_id: str, _sources: AbstractSet[str]) -> OwnParty:
    """The view's `reread`."""
    return await load_own(tables, user_id)


async def replay(tables: Tables, user_id: str, after: int, upto: int) -> list[tuple[int, State]] | None:
    """`own_view.replay`."""
    id = party_of(tables, user_id)
    head = None if id is None else tables.heads.get((KIND, id))
    if id is None or head is None:
        return None
    kept = tables.events.get((KIND, id), ())[: upto - 1]
    if [one.seq for one in kept] != list(range(1, upto)):
        return None
    begun = new_party(tables.rows[KIND, id].row, head.epoch)
    return revisions(begun, (_events.decode(one.event) for one in kept), after)
