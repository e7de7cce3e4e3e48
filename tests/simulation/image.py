"""What every run begins with: a group with more messages than memory takes, an old poll among them, and a direct
conversation; both with a snapshot. Made once a process, by the real rules, and copied for each run.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import msgspec
import trio
from trio.testing import MockClock

from actors.chat.commands import MessageDraft, PostMessage
from actors.chat.state import Summary, encode_summary
from persistence.chat.rows import ConversationRow
from persistence.journal.journal import Head, Snapshot
from persistence.journal.turn import Turn
from persistence.nodes.shards import shard_of
from tests.chat.play import a_poll, mid, uid
from tests.simulation.chat_reads import load, simulated_chat
from tests.simulation.chat_rows import KIND, USERS, Membership, Rows
from tests.simulation.tables import Tables

START_MS = 1_800_000_000_000

NAMES = ("ann", "bob", "cid", "dan", "eve")
USER_IDS = tuple(map(uid, NAMES))
GROUP, DIRECT = mid(1), mid(2)
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
        head = tables.heads[KIND, GROUP]
        turn = Turn(
            kind=KIND,
            id=GROUP,
            shard=shard_of(KIND, GROUP),
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
