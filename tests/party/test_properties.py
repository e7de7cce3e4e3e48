"""What holds for every history of a party: in memory against a plain model, and in rows against memory."""

from functools import partial
from typing import NamedTuple

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.errors import Refused
from actors.party.apply import apply
from actors.party.commands import (
    AcceptInvite,
    AnyCommand,
    DeclineInvite,
    Disband,
    HandOver,
    Kick,
    Leave,
    MeetDeadlines,
    RevokeInvite,
    Select,
    SendInvite,
    SetSelectors,
    TellBlock,
    TellErased,
    TellPresence,
)
from actors.party.events import AnyEvent, SelectionChanged
from actors.party.loading import dump, load, new_party, replay, restore, revisions, summary_of
from actors.party.own_view import OwnParty, position, recall, with_party
from actors.party.own_view import load as load_own
from actors.party.own_view import load_many as load_own_many
from actors.party.persisting import persist
from actors.party.state import MAX_MEMBERS, NOT_READY, TRAIL, State
from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.journal import journal
from persistence.journal.turn import Turn
from persistence.party import rows
from persistence.party.rows import PartyRow
from tests.chat.stage import make_users
from tests.party.play import FREE, NOW_MS, PARTY_ID, ROUND, Play, getting_ready, uid
from tests.support.database import lent_database
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM

NAMES = ("ann", "bob", "cid", "dan")


class Step(NamedTuple):
    """Something that somebody tries."""

    what: int
    who: str
    whom: str
    later_ms: int
    flag: bool


STEPS = st.builds(
    Step,
    st.integers(0, 18),
    st.sampled_from(NAMES),
    st.sampled_from(NAMES),
    st.sampled_from((0, 1, 7, 1000, 5 * 60_000, 11 * 60_000)),
    st.booleans(),
)


def command_of(step: Step, state: State) -> AnyCommand:
    """What a step means; half of what only leaders may do is done by the leader."""
    who, whom = uid(step.who), uid(step.whom)
    leader = state.leader_id if step.flag else who
    match step.what:
        case 0 | 1 | 2:
            return SendInvite(leader, whom, _notice(state))
        case 3 | 4 | 5:
            return AcceptInvite(who)
        case 6:
            return DeclineInvite(who)
        case 7:
            return RevokeInvite(leader, whom)
        case 8:
            return Leave(who)
        case 9:
            return Kick(leader, whom)
        case 10:
            return HandOver(leader, whom)
        case 11:
            return SetSelectors(leader, (whom, who) if step.flag else (whom,))
        case 12 | 13:
            return Select(leader, ROUND if step.who != "dan" else FREE)
        case 14:
            return getting_ready(step.who, is_ready=False)
        case 15:
            return TellPresence(who, NOW_MS + step.later_ms if step.flag else None)
        case 16 if step.whom == "dan" and step.later_ms:
            return Disband(leader)
        case 17:
            return TellBlock(who, whom)
        case _:
            return getting_ready(step.who)


def _notice(state: State) -> str:
    return f"{state.revision:024x}"


def run(play: Play, step: Step) -> None:
    play.now_ms += step.later_ms
    for command in (MeetDeadlines(), command_of(step, play.state)):
        before = play.state
        try:
            events = play.do(command)
        except Refused:
            continue
        check(before, play.state, command, events)


def check(before: State, after: State, command: AnyCommand, events: object) -> None:
    """What a command may have made of a party."""
    assert isinstance(events, list | tuple)
    journaled = [event for event in events if event.journaled]
    assert after.revision == before.revision + len(journaled)
    assert after.updated_at_ms >= before.updated_at_ms
    assert after.lobby.revision == before.lobby.revision + sum(
        isinstance(e, SelectionChanged) for e in events
    )
    assert len(after.members) <= MAX_MEMBERS
    if not after.ended:
        assert after.leader_id in after.members
        assert set(after.lobby.selector_ids) <= after.members.keys() - {after.leader_id}
        assert not after.members.keys() & after.invites.keys()
    if after.lobby.revision != before.lobby.revision:
        assert all(member.ready == NOT_READY for member in after.members.values())
    signal, selection = after.lobby.signal, after.lobby.selection
    all_ready = all(member.ready.ready for member in after.members.values())
    launchable = all_ready and selection is not None and selection.round_based and not after.ended
    if signal is not None:
        assert launchable
        assert signal.member_ids == tuple(after.members)
    if isinstance(command, type(getting_ready("ann"))):
        assert (signal is not None) == launchable
    if after.members.keys() - before.members.keys():
        assert signal is None
    if before.members.keys() - after.members.keys():
        assert (signal is not None) == (launchable and before.lobby.signal is None)
    assert [one.revision for one in (*after.trail, after)][-TRAIL:] == list(
        range(max(1, after.revision - TRAIL + 1), after.revision + 1)
    )


@settings(max_examples=200, deadline=None)
@given(st.lists(STEPS, min_size=10, max_size=60))
def test_every_history_keeps_the_rules(steps: list[Step]):
    play = Play("ann", "bob")
    for step in steps:
        run(play, step)


def lasting(state: State) -> State:
    """What outlives this process."""
    return replace(state, trail=(), looked_up=None)


def playing(steps: list[Step]) -> Play:
    """A party in which these were tried, up to its end; names are as rows say."""
    play = Play("ann")
    for step in steps:
        if not play.state.ended:
            run(play, step)
    return play


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, min_size=10, max_size=60), st.integers(0, 40))
def test_a_snapshot_and_the_events_after_it_are_the_state(steps: list[Step], at: int):
    play = playing(steps)
    journal_of: list[AnyEvent] = [event for event in play.events if event.journaled]
    kept = new_party(PartyRow(PARTY_ID, uid("ann"), "ann", NOW_MS), "e1")
    told = dict(revisions(kept, journal_of, 1))
    assert list(told) == list(range(2, play.state.revision + 1))
    for event in journal_of[:at]:
        kept = apply(kept, event)
    kept = restore(dump(kept))
    for event in journal_of[at:]:
        kept = apply(kept, msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=type(event)))
    without_presence = {id: replace(m, offline_since_ms=None) for id, m in play.state.members.items()}
    assert lasting(kept) == lasting(replace(play.state, members=without_presence))
    # What a view recalls are these same states.
    view = OwnParty(uid("ann"), play.state, {})
    for after in range(1, play.state.revision):
        recalled = recall(view, after)
        if play.state.revision - after <= TRAIL:
            assert recalled is not None
            assert [revision for revision, _ in recalled] == list(range(after + 1, play.state.revision + 1))
        else:
            assert recalled is None


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(STEPS, min_size=10, max_size=50))
async def test_reload_equals_memory(postgres_server: str, steps: list[Step]):
    with lent_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            await database.transact(make_users, NAMES)
            await _reloads(database, steps)


async def _reloads(database: Database, steps: list[Step]) -> None:
    play = Play("ann")
    row = PartyRow(PARTY_ID, uid("ann"), "ann", NOW_MS)

    async def found(conn: Connection) -> None:
        await rows.insert_party(conn, row, epoch="e1", summary=summary_of(play.state), due_at_ms=None)

    await database.transact(found)
    views = {name: await database.read(load_own, uid(name)) for name in NAMES}
    for step in steps:
        if play.state.ended:
            break
        before = len(play.events)
        run(play, step)
        await database.transact(_write, play, before)
        views = {name: with_party(view, play.state) for name, view in views.items()}
    named = {id: replace(member, name=_name(id)) for id, member in play.state.members.items()}
    invites = {
        id: replace(one, target_name=_name(id), sender_name=_name(one.sender_id))
        for id, one in play.state.invites.items()
    }
    reloaded = await database.read(load, PARTY_ID)
    if play.state.ended:
        assert reloaded is None
    else:
        assert reloaded == lasting(replace(play.state, members=named, invites=invites))
        told = await database.read(replay, PARTY_ID, 1, play.state.revision)
        assert told is not None
        assert [revision for revision, _ in told] == list(range(2, play.state.revision + 1))
    loaded = await database.read(load_own_many, [uid(name) for name in views])
    for name, view in views.items():
        fresh = loaded[uid(name)]
        assert (fresh.party is None) == (view.party is None)
        assert fresh.incoming.keys() == view.incoming.keys()


def _name(user_id: str) -> str:
    return next(name for name in NAMES if uid(name) == user_id)


async def test_views_of_rows_know_that_the_past_is_told_in_other_words(database: Database) -> None:
    """Of nodes where the party does not live, too: nobody goes on from where they were before somebody was erased."""
    play = Play("ann")
    await database.transact(make_users, NAMES)
    row = PartyRow(PARTY_ID, uid("ann"), "ann", NOW_MS)
    summary = summary_of(play.state)
    await database.transact(partial(rows.insert_party, row=row, epoch="e1", summary=summary, due_at_ms=None))
    before = position(await database.read(load_own, uid("ann")))
    for name in ("bob", "cid"):
        play.do(TellErased(uid(name)))
    await database.transact(_write, play, 0)
    own = await database.read(load_own, uid("ann"))
    assert own.party is not None
    assert own.party.erased == play.state.erased == 2
    assert position(own) == position(replace(own, party=play.state)) != before


async def _write(conn: Connection, play: Play, before: int) -> None:
    """One turn with the events after these, as the writer would write it."""
    events = play.events[before:]
    head = await journal.read_head(conn, rows.KIND, PARTY_ID)
    assert head is not None
    await persist(conn, [_turn(events)])
    encoded = [msgspec.msgpack.encode(event) for event in events if event.journaled]
    await conn.execute(
        "UPDATE heads SET seq = seq + $2, summary = $3 WHERE kind = 'party' AND id = $1",
        PARTY_ID,
        len(encoded),
        summary_of(play.state),
    )
    for seq, event in enumerate(encoded, head.seq + 1):
        await conn.execute("INSERT INTO events VALUES ('party', $1, $2, 0, $3)", PARTY_ID, seq, event)


def _turn(events: list[AnyEvent]) -> Turn:
    return Turn(
        kind=rows.KIND,
        id=PARTY_ID,
        shard=0,
        fence=0,
        seq=0,
        version=0,
        at_ms=0,
        events=tuple(events),
        journal=(),
        due_at_ms=None,
        summary=b"",
        persist=persist,
    )
