"""The simulated database is like the real one: the same operations, drawn by seed, have the same answers on both."""

from random import Random
from typing import Any

import msgspec
import pytest

from actors.chat.kind import chat_kinds
from actors.chat.lookups import Need
from actors.chat.state import Summary, encode_summary
from actors.errors import Refused
from persistence.bridge.database import Database
from persistence.chat.rows import ConversationRow
from persistence.connection import Connection
from persistence.errors import Fenced, HeadMoved, RowsRejected
from persistence.journal import journal, rewriting
from persistence.journal.turn import Receipt, Turn
from persistence.nodes import nodes
from persistence.nodes.shards import shard_of
from tests.chat.play import a_poll, mid
from tests.simulation import requests
from tests.simulation.both import Both, both_with_users
from tests.simulation.chat_reads import fetch, load_inbox, simulated_chat
from tests.simulation.chat_rows import KIND, Membership, Rows, persist
from tests.simulation.image import START_MS, USER_IDS
from tests.simulation.tables import Tables

ID = mid(1)
MEMBERS = USER_IDS[:3]
OPERATIONS = 120


async def _both(database: Database) -> Both:
    both = await both_with_users(database)
    tables = both.tables
    await database.transact(_create)
    at_ms = START_MS - 1_000
    row = ConversationRow(ID, "group", None, MEMBERS[0], at_ms)
    joined = {id: Membership(at_ms + place, 0, 0, spoke=place == 0) for place, id in enumerate(MEMBERS)}
    tables.rows[KIND, ID] = Rows(row, joined)
    for place, epoch in enumerate(("e1", "e2")):
        id = (ID, "other")[place]
        summary = encode_summary(Summary(at_ms, 0, 0))
        await both.unit("create_head", KIND, id, epoch=epoch, summary=summary, due_at_ms=None, at_ms=at_ms)
    return both


async def _create(conn: Connection) -> None:
    at_ms = START_MS - 1_000
    await conn.execute(
        "INSERT INTO conversations (id, kind, owner_id, created_at_ms) VALUES ($1, 'group', $2, $3)",
        ID, MEMBERS[0], at_ms,
    )  # fmt: skip
    for place, user_id in enumerate(MEMBERS):
        await conn.execute(
            "INSERT INTO conversation_members (conversation_id, user_id, joined_at_ms, joined_seq, read_seq, spoke)"
            " VALUES ($1, $2, $3, 0, 0, $4)",
            ID, user_id, at_ms + place, place == 0,
        )  # fmt: skip


async def _journal(both: Both, rng: Random) -> None:
    """Statements of journal and nodes, on heads that exist and on one that does not."""
    id = rng.choice((ID, "other", "nobody"))
    fence = both.tables.leases[0][1]
    match rng.randrange(10):
        case 0:
            await both.unit("read_head", KIND, id)
            await both.unit("read_positions", KIND, ["nobody", id])
        case 1:
            await both.unit("read_snapshots", KIND, id)
        case 2:
            seq = rng.randrange(6)
            await both.unit("save_snapshot", KIND, id, seq=seq, version=1, state=b"s%d" % seq)
        case 3:
            after, limit = rng.randrange(8), rng.randrange(1, 9)
            await both.unit("read_events", KIND, id, after=after, limit=limit)
            bytes_max = rng.choice((10, 10_000))
            await both.unit("read_events_within", KIND, id, after=after, limit=limit, bytes_max=bytes_max)
        case 4:
            await both.unit("trim", KIND, id, bytes_max=rng.choice((500, 50_000)))
        case 5:
            shard = shard_of(KIND, id)
            await both.unit("seal", KIND, id, shard=shard, fence=rng.choice((fence, fence - 1)))
        case 6:
            shards, before_ms = [shard_of(KIND, id)], START_MS + rng.randrange(100_000)
            await both.unit("due", shards=shards, before_ms=before_ms, limit=5)
        case 7:
            await both.unit(
                "rewrite_events", KIND, "other", {rng.randrange(1, 5): b"rewritten"}, of=rewriting
            )
        case 8:
            await both.unit("sizes_at", KIND, id, [1, 3, 99], of=rewriting)
            await both.unit("forget_until", KIND, id, rng.randrange(3), of=rewriting)
        case _:
            life = both.tables.lives - rng.randrange(2)
            await both.unit("renew", "n1", life, 60.0, of=nodes)
            if rng.random() < 0.3:
                await both.unit("leave", "n1", life, of=nodes)
            await both.unit("hold_alone", rng.choice(("n1", "n2")), 60.0, of=nodes)


async def _chat(both: Both, rng: Random, number: int) -> None:
    """A turn of one or two commands by the real rules; now and then its head, lease or receipt is not right."""
    real = chat_kinds(lambda _ids: (), lambda: START_MS).conversation
    kind = simulated_chat(lambda: START_MS).conversation
    state = await kind.load(both.tables, ID)
    head, now_ms = both.tables.heads[KIND, ID], START_MS + number * 500
    assert state is not None
    events: list[Any] = []
    for part in range(rng.randrange(1, 3)):
        request = _command(both.tables, rng, number * 10 + part)
        command = request.make(mid(request.number))
        need = kind.lookups.missing(state, command)
        if need is not None and any(kind.lookups.overlaps(event, need) for event in events):
            break
        scratch = state if need is None else kind.lookups.absorb(state, await _fetched(both, need))
        try:
            happened = kind.decide(scratch, command, now_ms)
        except Refused:
            continue
        for event in happened:
            scratch = kind.apply(scratch, event)
        state, events = kind.lookups.forget(scratch), [*events, *happened]
    wrong = rng.random()
    shard = shard_of(KIND, ID)
    receipt = Receipt(b"%032d" % rng.randrange(8), b"f" * 48, 200, b"{}", START_MS + 10**9)
    turn = Turn(
        kind=KIND,
        id=ID,
        shard=shard,
        fence=both.tables.leases[shard][1] - (wrong < 0.05),
        seq=head.seq - (0.05 < wrong < 0.1),
        version=head.version + (0.1 < wrong < 0.15),
        at_ms=now_ms,
        events=tuple(event for event in events if event.durable),
        journal=tuple(msgspec.msgpack.encode(event.note()) for event in events if event.journaled),
        due_at_ms=kind.due(state),
        summary=kind.summary(state),
        persist=persist,
        receipts=(receipt,) if rng.random() < 0.2 else (),
    )
    await both.turn(turn, real.persist, real.plan)


async def _fetched(both: Both, need: Need) -> Any:
    real = chat_kinds(lambda _ids: (), lambda: START_MS).conversation
    found = await fetch(both.tables, ID, need)
    assert await both.database.read(real.lookups.fetch, ID, need) == found
    return found


def _command(tables: Tables, rng: Random, number: int) -> requests.Request:
    rows: Rows = tables.rows[KIND, ID]
    user_id = rng.choice((*rows.members, USER_IDS[3])) if rows.members else USER_IDS[3]
    messages = list(rows.messages)
    own = [one.id for one in rows.messages.values() if one.sender_id == user_id]
    polls = [one.id for one in rows.messages.values() if one.has_poll]
    drawn = rng.random()
    if drawn < 0.2 and own:
        make = requests.editing if drawn < 0.12 else requests.deleting
        return make(number, user_id, ID, rng.choice(own))
    if drawn < 0.35 and polls:
        return requests.voting(number, user_id, ID, rng.choice(polls), rng.choice(((), ("1",), ("2",))))
    if drawn < 0.5 and messages:
        return requests.reading(number, user_id, ID, rng.choice(messages))
    if drawn < 0.65:
        what = rng.choice(("title", "mute", "add", "remove"))
        return requests.changing(number, what, rows.row.owner_id or user_id, ID, rng.choice(USER_IDS[1:]))
    poll = a_poll(expires_at_ms=rng.choice((None, START_MS + 10**8))) if rng.random() < 0.3 else None
    mention = rng.choice(MEMBERS) if rng.random() < 0.4 else None
    return requests.posting(
        number, user_id, ID, how=rng.choice(("client", "once")), poll=poll, mention=mention
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
async def test_the_simulated_database_answers_as_the_real_one(database: Database, seed: int) -> None:
    rng, both = Random(seed), await _both(database)
    real, inbox = (kinds := chat_kinds(lambda _ids: (), lambda: START_MS)).conversation, kinds.inbox
    for number in range(1, OPERATIONS + 1):
        await (_journal(both, rng) if rng.random() < 0.4 else _chat(both, rng, number))
        if number % 5 == 0:
            simulated = await simulated_chat(lambda: START_MS).conversation.load(both.tables, ID)
            assert await database.read(real.load, ID) == simulated
            user_id = rng.choice(USER_IDS)
            assert await database.read(inbox.load, user_id) == await load_inbox(both.tables, user_id)
            assert [row.event for row in await database.read(_events)] == [
                row.event for row in both.tables.events.get((KIND, ID), ())
            ]
    assert both.outcomes == {type(None), Fenced, HeadMoved, RowsRejected}


async def _events(conn: Connection) -> Any:
    return await journal.read_events(conn, KIND, ID, after=0, limit=10_000)
