"""What holds for every history: counts equal a plain model, reload equals memory, events lead to the same
frames.
"""

from contextlib import suppress

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from actors.chat.apply import apply
from actors.chat.commands import ChatViewer
from actors.chat.deltas import delta as change
from actors.chat.deltas import event_key
from actors.chat.frames import Frames, audience
from actors.chat.inbox import load_many, snapshot, take
from actors.chat.inbox_state import InboxState
from actors.chat.loading import dump, restore
from actors.chat.public import Conversation, InboxSnapshot, MessagePage
from actors.chat.records import decode
from actors.chat.sight import STRANGER, Sight
from actors.chat.state import LookedUp, State, standing
from actors.errors import Refused
from tests.chat.play import NOW_MS, Play, uid
from tests.chat.scenario import NAMES, STEPS, Model, Step, command_of
from tests.chat.stage import Stage, lasting, open_stage
from tests.support.database import lent_database
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.warm import WARM


@settings(max_examples=150, deadline=None)
@given(st.lists(STEPS, min_size=20, max_size=80))
def test_counts_equal_a_plain_model(steps: list[Step]):
    play = Play("ann", "bob", "cid")
    model = Model(read={uid(name): 0 for name in ("ann", "bob", "cid")})
    names = {uid(name): name for name in NAMES}
    for number, step in enumerate(steps, 1):
        command = command_of(step, number, play.state, [sent.id for sent in model.sent])
        play.state = replace(play.state, looked_up=LookedUp(names=names))
        try:
            events = play.later(7).do(command)
        except Refused:
            continue
        for event in events:
            model.take(event)
    assert {id: model.standing(id) for id in model.read} == {
        id: (own.unread, own.mentions)
        for id, member in play.state.members.items()
        for own in [standing(play.state, member)]
    }
    for line in play.state.window:
        poll = decode(line.record).poll
        if poll is not None:
            counted = [option.votes for option in poll.options], poll.total_voters
            assert counted == model.poll(line.id)
            assert poll.total_votes == sum(counted[0])


@settings(max_examples=100, deadline=None)
@given(st.lists(STEPS, min_size=20, max_size=80), st.integers(0, 60))
def test_a_snapshot_and_the_events_after_it_equal_a_fresh_snapshot(steps: list[Step], at: int):
    play = Play("ann", "bob", "cid")
    frames = Frames(lambda _ids: (), lambda: NOW_MS)
    kept, behind = dump(play.state), 0
    ids: list[str] = []
    for number, step in enumerate(steps, 1):
        command = command_of(step, number, play.state, ids)
        try:
            play.later(7).do(command)
        except Refused:
            continue
        ids = [line.id for line in play.state.window]
        if number == at:
            kept, behind = dump(play.state), len(play.events)
    state: State = restore(kept)
    for event in play.events[behind:]:
        encoded = msgspec.msgpack.encode(event)
        state = apply(state, msgspec.msgpack.decode(encoded, type=type(event)))
    for id in state.members:
        viewer = ChatViewer(id, limit=20)
        fresh = frames.snapshot(play.state, audience(play.state, viewer))
        assert frames.snapshot(state, audience(state, viewer)) == fresh
        page = msgspec.json.decode(fresh, type=MessagePage)
        assert page.conversation.unread_count is None
        assert [message.id for message in page.items] == ids[-20:]
    assert lasting(state) == lasting(play.state)


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=20, max_size=60))
def test_whoever_shares_the_bytes_of_an_event_is_told_the_same(steps: list[Step]):
    play = Play("ann", "bob", "cid")
    frames = Frames(tuple, lambda: NOW_MS)
    for number, step in enumerate(steps, 1):
        try:
            events = play.later(7).do(
                command_of(step, number, play.state, [one.id for one in play.state.window])
            )
        except Refused:
            continue
        own = [
            audience(play.state, ChatViewer(id), sight)
            for id in play.state.members
            for sight in (STRANGER, Sight(known=(id,)), Sight(hidden=frozenset(play.state.members)))
        ]
        for event in events:
            told: dict[object, object] = {}
            for one in own:
                delta = change(frames.seen_with(one.sight), play.state, event, one)
                assert told.setdefault(event_key(event, one), delta) == delta


@settings(max_examples=60, deadline=None)
@given(st.lists(STEPS, min_size=20, max_size=60))
def test_a_page_that_others_asked_for_is_the_page_that_one_gets(steps: list[Step]):
    play = Play("ann", "bob", "cid")
    kept = Frames(tuple, lambda: NOW_MS)
    for number, step in enumerate(steps, 1):
        with suppress(Refused):
            play.later(7).do(command_of(step, number, play.state, [one.id for one in play.state.window]))
        for id in play.state.members:
            for limit in (3, 50):
                asked = {"before_ms": None, "limit": limit, "include_archived": True}
                fresh = Frames(tuple, lambda: NOW_MS).page_for(play.state, id, **asked)
                assert kept.page_for(play.state, id, **asked) == fresh


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(STEPS, min_size=3, max_size=8), min_size=3, max_size=10), st.integers(0, 10))
async def test_reload_equals_memory(postgres_server: str, turns: list[list[Step]], at: int):
    with lent_database(postgres_server) as url:
        async with WARM.open(url, timeout_seconds=PATIENCE_SECONDS) as database:
            await _reloads(await open_stage(database), turns, at)


async def _reloads(stage: Stage, turns: list[list[Step]], at: int) -> None:
    await stage.fill(115, "bob")  # so that some of what follows lies outside the window
    stage.take_snapshot()
    ids = [line.id for line in stage.state.window]
    for number, steps in enumerate(turns):
        stage.now_ms += 300
        commands = []
        for step in steps:
            stage.number += 1
            commands.append(command_of(step, stage.number, stage.state, ids))
        await stage.act(*commands)
        ids = list(dict.fromkeys([*ids, *(line.id for line in stage.state.window)]))
        if number == at:
            stage.take_snapshot()
    assert await stage.loaded(stage.id) == lasting(stage.state)
    assert await stage.restored() == lasting(stage.state)
    inboxes = await stage.database.read(load_many, list(stage.state.members))
    assert inboxes.keys() == stage.state.members.keys()
    for id, from_rows in inboxes.items():
        _inbox_agrees(stage, id, from_rows)


def _inbox_agrees(stage: Stage, user_id: str, from_rows: InboxState) -> None:
    """The inbox from rows, and the one that takes the live conversation, are the same to the byte."""
    frames = stage.kinds.frames
    mine = replace(
        from_rows, entries=tuple(entry for entry in from_rows.entries if entry.facts.id != stage.id)
    )
    taken, unread = take(frames, stage.kinds.conversation, mine, {stage.id}, lambda _kind, _id: stage.state)
    assert unread == set()
    assert snapshot(frames, taken) == snapshot(frames, from_rows)
    decoded = msgspec.json.decode(snapshot(frames, taken), type=InboxSnapshot)
    assert decoded.totals.unread == sum(one.unread_count or 0 for one in decoded.conversations)
    alone = InboxState(user_id, (), {})
    taken, _ = take(frames, stage.kinds.conversation, alone, {stage.id}, lambda _kind, _id: stage.state)
    live = frames.conversation_for(stage.state, user_id)
    assert msgspec.json.decode(live, type=Conversation) in decoded.conversations
