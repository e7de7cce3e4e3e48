"""Who changes several members of a conversation, or members and messages, locks them in one order."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from actors.chat.commands import ChangeConversation, MarkRead
from persistence.bridge.database import Database
from persistence.chat import archive, members
from persistence.chat.rows import ReadRow
from persistence.connection import Connection
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
    return partial(members.hold, pairs=[(stage.id, user_id)])


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


@pytest.mark.parametrize("what", ["read", "spoke"])
async def test_a_batch_written_at_once(stage: Stage, what: str) -> None:
    pairs = [(stage.id, SECOND), (stage.id, FIRST)]
    if what == "read":
        statement, _ = members.marking([ReadRow(*pair, 1, 1, 0) for pair in pairs])
    else:
        statement = members.speaking(pairs)

    async def write(conn: Connection) -> None:
        await conn.execute(statement.sql, *statement.parameters)

    await members_crossed(stage, partial(stage.database.transact, write))
