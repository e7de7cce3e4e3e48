"""Who changes several members of a conversation, or members and messages, locks them in one order."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from actors.chat.commands import ChangeConversation, MarkRead
from persistence.bridge.database import Database
from persistence.chat import archive, member_locks, members
from persistence.chat.rows import ReadRow
from persistence.connection import Connection
from persistence.journal.commit import at_once
from tests.chat.play import mid, uid
from tests.chat.stage import Stage, open_stage
from tests.support.locks import Step, crossed

FIRST, SECOND = sorted((uid("ann"), uid("bob")))
"""Two members, by id."""


@pytest.fixture
async def stage(database: Database) -> Stage:
    """A conversation with messages of both, some of them so old that they are moved."""
    stage = await open_stage(database)
    for name in ("ann", "bob", "cid"):
        await stage.fill(60, name)
    return stage


def holding(stage: Stage, user_id: str) -> Step:
    return partial(member_locks.hold, pairs=[(stage.id, user_id)])


async def members_crossed(stage: Stage, other: Callable[[], Awaitable[Any]]) -> None:
    await crossed(stage.database, holding(stage, FIRST), holding(stage, SECOND), other)


def moving(stage: Stage) -> Callable[[], Awaitable[Any]]:
    move = partial(archive.move_old, conversation_id=stage.id, before_ms=2**60, limit=100)
    return partial(stage.database.transact, move)


async def _change_oldest(conn: Connection, conversation_id: str) -> None:
    await conn.execute(
        "UPDATE messages SET record = record WHERE conversation_id = $1 AND seq = 1", conversation_id
    )


async def test_archiving_beside_members_who_read(stage: Stage) -> None:
    await members_crossed(stage, moving(stage))


async def test_archiving_beside_who_edits_an_old_message(stage: Stage) -> None:
    """The writer locks the member whose marks it changes before the message, too."""
    edit = partial(_change_oldest, conversation_id=stage.id)
    await crossed(stage.database, holding(stage, FIRST), edit, moving(stage))


async def test_a_batch_written_in_steps(stage: Stage) -> None:
    """Marks of reading and of muting are written by two statements."""
    read, mute = MarkRead(SECOND, mid(stage.number)), ChangeConversation(FIRST, muted=True)
    await members_crossed(stage, partial(stage.act, read, mute))


async def _analyzed(conn: Connection) -> None:
    """FIRST comes last in the table, whose statistics say that it is small enough to be read as a whole."""
    await conn.execute("UPDATE conversation_members SET muted = muted WHERE user_id = $1", FIRST)
    await conn.execute("ANALYZE conversation_members")


@pytest.mark.parametrize("is_analyzed", [False, True])
@pytest.mark.parametrize("what", ["read", "spoke"])
async def test_a_batch_written_at_once(stage: Stage, what: str, is_analyzed: bool) -> None:
    """In whichever way PostgreSQL finds the members."""
    pairs = [(stage.id, SECOND), (stage.id, FIRST)]
    if is_analyzed:
        await stage.database.transact(_analyzed)
    if what == "read":
        statement, _ = members.marking([ReadRow(*pair, 1, 1, 0) for pair in pairs])
    else:
        statement = members.speaking(pairs)

    async def write(conn: Connection) -> None:
        await conn.execute(statement.sql, *statement.parameters)

    await members_crossed(stage, partial(stage.database.transact, write))


@pytest.mark.parametrize("number", [1, 2])
async def test_a_batch_written_at_once_changes_all_of_it(stage: Stage, number: int) -> None:
    pairs = [(stage.id, SECOND), (stage.id, FIRST)][:number]

    async def write(conn: Connection) -> list[tuple[str, int, bool]]:
        await members.mark_read(conn, [ReadRow(*pair, 7, 1, 0) for pair in pairs])
        await members.speak(conn, pairs)
        rows = (await members.of_conversations(conn, [stage.id]))[stage.id]
        return [(row.user_id, row.read_seq, row.spoke) for row in rows if row.read_seq == 7]

    assert sorted(await stage.database.transact(write)) == sorted((id, 7, True) for _, id in pairs)


async def test_marks_of_several_members_take_one_statement(stage: Stage) -> None:
    kind, events = stage.kinds.conversation, []
    for user_id in (SECOND, FIRST):
        events += kind.decide(stage.state, MarkRead(user_id, mid(stage.number)), stage.now_ms)
    statement = at_once([stage.turn_of(stage.state, events)])
    assert statement is not None

    async def write(conn: Connection) -> list[int]:
        await conn.fetch(statement.sql, *statement.parameters)
        return [row.read_seq for row in (await members.of_conversations(conn, [stage.id]))[stage.id]]

    found = await stage.database.transact(write)
    assert found.count(stage.number - 1) == len(events) == 2, "the last message"
