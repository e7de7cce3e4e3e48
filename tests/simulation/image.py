"""What every run begins with: a group with more messages than memory takes, an old poll among them, and a direct
conversation, both with a snapshot, and a party. Made once a process, by the real rules, and copied for each run.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from actors.chat.commands import MessageDraft, PostMessage
from actors.chat.state import Summary, encode_summary
from actors.kernel.kind import Kind
from actors.party.commands import AcceptInvite, SendInvite
from actors.party.memberships import Memberships
from persistence.chat.rows import ConversationRow
from persistence.journal.journal import Head, Snapshot
from persistence.journal.turn import Turn
from persistence.nodes.shards import shard_of
from persistence.party.rows import PartyRow
from tests.chat.play import a_poll, mid, uid
from tests.simulation.chat_reads import load, simulated_chat
from tests.simulation.chat_rows import KIND, USERS, Membership, Rows
from tests.simulation.party_reads import fetch, simulated_party
from tests.simulation.party_reads import load as load_party
from tests.simulation.party_rows import insert_party
from tests.simulation.tables import Tables

START_MS = 1_800_000_000_000

NAMES = ("ann", "bob", "cid", "dan", "eve")
USER_IDS = tuple(map(uid, NAMES))
GROUP, DIRECT = mid(1), mid(2)
PARTY = "00000000-0000-4000-8000-000000000001"
CONVERSATIONS = {GROUP: USER_IDS[:4], DIRECT: USER_IDS[:2]}

OLD_MESSAGES = 126
OLD_POLL = mid(103)
"""In the group, and further back than memory reaches."""


@cache
def image() -> Tables:
    """The tables, to be copied."""
    return trio.run(_make, clock=MockClock(autojump_threshold=0))


async def _make() -> Tables:
    tables = Tables(lambda: 0.0)
    tables.rows[USERS] = dict(zip(USER_IDS, NAMES, strict=True))
    for id, members in CONVERSATIONS.items():
        _create(tables, id, members)
    await tables.hold_alone(tables, "image", 0.0)
    await _gather(tables)
    await _fill(tables)
    tables.nodes.clear()
    for id in CONVERSATIONS:
        state, head = await load(tables, id), tables.heads[KIND, id]
        kind = simulated_chat(lambda: START_MS).conversation
        assert state is not None
        # The newest events stay in the journal, so that a client may come back from before the run.
        tables.snapshots[KIND, id] = (Snapshot(head.seq, kind.version, kind.dump(state)),)
        tables.events[KIND, id] = tables.events.get((KIND, id), ())[-20:]
    return tables


def _create(tables: Tables, id: str, members: Sequence[str]) -> None:
    group = len(members) > 2
    at_ms = START_MS - 10_000_000
    row = ConversationRow(id, "group" if group else "direct", None, members[0] if group else None, at_ms)
    joined = {one: Membership(at_ms + place, 0, 0, spoke=place == 0) for place, one in enumerate(members)}
    tables.rows[KIND, id] = Rows(row, joined)
    summary = encode_summary(Summary(at_ms, 0, 0))
    tables.heads[KIND, id] = Head(0, 0, f"e{id[-1]}", None, summary, updated_at_ms=at_ms)


async def _gather(tables: Tables) -> None:
    """A party of three, the first of whom leads."""
    await insert_party(tables, PartyRow(PARTY, USER_IDS[0], NAMES[0], START_MS - 1_000_000), "p1")
    for number, user_id in enumerate(USER_IDS[1:3]):
        for command in (SendInvite(USER_IDS[0], user_id, mid(900 + number)), AcceptInvite(user_id)):
            await _join(tables, command, START_MS - 900_000 + number)


async def _join(tables: Tables, command: SendInvite | AcceptInvite, now_ms: int) -> None:
    kind = simulated_party(lambda _id: True, lambda: START_MS, Memberships(())).party
    state: Any = await load_party(tables, PARTY)
    asked = kind.lookups and kind.lookups.missing(state, command)
    assert asked is not None
    state = replace(state, looked_up=await fetch(tables, PARTY, asked))
    events = kind.decide(state, command, now_ms)
    for event in events:
        state = kind.apply(state, event)
    await _land(tables, kind, PARTY, state, events, now_ms)


async def _fill(tables: Tables) -> None:
    kind: Any = simulated_chat(lambda: START_MS).conversation
    state = await load(tables, GROUP)
    for number in range(1, OLD_MESSAGES + 1):
        poll = a_poll("red", "blue", "green", multiple=True) if mid(100 + number) == OLD_POLL else None
        draft = MessageDraft(content=f"old {number}", poll=poll)
        sender_id = CONVERSATIONS[GROUP][number % 4]
        now_ms = START_MS - 1_000_000 + number * 1000
        events = kind.decide(state, PostMessage(sender_id, mid(100 + number), draft), now_ms)
        for event in events:
            state = kind.apply(state, event)
        await _land(tables, kind, GROUP, state, events, now_ms)


async def _land(
    tables: Tables, kind: Kind[Any, Any], id: str, state: Any, events: Sequence[Any], now_ms: int
) -> None:
    head = tables.heads[kind.name, id]
    turn = Turn(
        kind=kind.name,
        id=id,
        shard=shard_of(kind.name, id),
        fence=1,
        seq=head.seq,
        version=head.version,
        at_ms=now_ms,
        events=tuple(events),
        journal=tuple(msgspec.msgpack.encode(event) for event in events),
        due_at_ms=None,
        summary=kind.summary(state),
        persist=kind.persist,
    )
    assert await tables.land(turn) is None
