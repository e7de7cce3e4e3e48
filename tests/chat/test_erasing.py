"""Erasing a user from messages that are written meanwhile."""

from actors.chat.commands import TellErased
from actors.chat.erasing import erase_everywhere
from persistence.bridge.database import Database
from persistence.connection import Connection
from tests.chat.play import uid
from tests.chat.stage import Stage, open_stage


async def first_record(conn: Connection, conversation_id: str) -> bytes:
    record = await conn.fetchval(
        "SELECT record FROM messages WHERE conversation_id = $1 ORDER BY seq LIMIT 1", conversation_id
    )
    return bytes(record)


async def write_first(conn: Connection, conversation_id: str, record: bytes) -> None:
    await conn.execute(
        """
        UPDATE messages SET record = $2 WHERE conversation_id = $1
            AND seq = (SELECT min(seq) FROM messages WHERE conversation_id = $1)
        """,
        conversation_id,
        record,
    )


async def test_a_vote_under_way_brings_no_erased_name_back(database: Database) -> None:
    """It had read an old message before its record was rewritten, and commits it in the next turn."""
    stage: Stage = await open_stage(database)
    await stage.fill(130, "bob")
    named = await database.read(first_record, stage.id)
    assert uid("bob").encode() in named
    turns = 0

    async def tell(conversation_id: str) -> None:
        nonlocal turns
        turns += 1
        if turns == 2:
            await database.transact(write_first, stage.id, named)
        if conversation_id == stage.id:
            await stage.act(TellErased(uid("bob")))

    await erase_everywhere(database, uid("bob"), tell)
    assert b'"bob"' not in await database.read(first_record, stage.id)
    assert turns == 4
