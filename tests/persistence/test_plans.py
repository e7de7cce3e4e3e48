"""Statements that read what they are asked for, and not all that something busy has of it."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from persistence.bridge.database import Database
from persistence.chat import archive, attachments, messages
from persistence.connection import Connection
from persistence.shop.entitlements import EndedGrant, grants_ended
from tests.service.overdue import USERS
from tests.support.explaining import Planning

# A third is of one sender in one conversation; the others have a few messages in each of many.
BUSY = "CASE WHEN i % 3 = 0 THEN 'busy' ELSE 'c' || i % 2000 END"
SENDER = "CASE WHEN i % 3 = 0 THEN 'busy' ELSE 'u' || i % 1999 END"
FILLS = (
    USERS,
    "INSERT INTO messages (conversation_id, seq, id, created_at_ms, sender_id, sender_seq, client_message_id, record,"
    f" has_poll, poll_open) SELECT {BUSY}, i, 'm' || i, i, {SENDER}, i, 'x' || i, '', false, false"
    " FROM generate_series(1, 9000) AS i",
    "INSERT INTO archived_messages (conversation_id, created_at_ms, id, record)"
    f" SELECT {BUSY}, i, 'a' || i, '' FROM generate_series(1, 9000) AS i",
    "INSERT INTO attachments (id, conversation_id, uploader_id, file_name, content_type, size_bytes, created_at_ms)"
    f" SELECT lpad(i::text, 24, '0'), {BUSY}, 'u', 'f', 't', 1, i FROM generate_series(1, 9000) AS i",
    "INSERT INTO user_grants (user_id, node, negated, expires_at_ms, created_at_ms, updated_at_ms)"
    " SELECT id, 'perk:cape.' || i, false, i, 0, 0 FROM users, generate_series(1, 60) AS i",
)

Read = Callable[[Connection], Awaitable[Any]]

READS: dict[str, tuple[Read, str]] = {
    "a message by its sender's id": (
        lambda conn: messages.by_client_id(conn, "busy", "busy", "x3000"),
        "messages_by_client_id",
    ),
    "messages": (lambda conn: messages.by_ids(conn, "busy", ["m3000"]), "messages_by_id"),
    "archived messages": (lambda conn: archive.among(conn, "busy", ["a3000"]), "archived_messages_by_id"),
    "attachments": (lambda conn: attachments.by_ids(conn, "busy", [f"{3000:024}"]), "attachments_pkey"),
    "grants that have ended": (
        lambda conn: grants_ended(conn, EndedGrant(59, "", ""), 60, 10),
        "user_grants_ending",
    ),
}
"""{what is read: how, and the only index that is good for it}"""


async def test_what_is_busy_is_not_read_as_a_whole(database: Database, subtests: pytest.Subtests) -> None:
    async def fill(conn: Connection) -> None:
        for statement in FILLS:
            await conn.execute(statement)
        await conn.execute("ANALYZE")

    await database.transact(fill)
    for name, (read, index) in READS.items():
        plans: list[str] = []

        async def planned(conn: Connection, read: Read = read, plans: list[str] = plans) -> Any:
            return await read(cast(Connection, Planning(conn, plans)))

        with subtests.test(name):
            assert await database.transact(planned)
            (plan,) = plans
            assert f"{index} " in plan and plan.count("Scan") == 1, plan
