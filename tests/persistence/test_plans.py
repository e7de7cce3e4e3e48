"""Statements that read what they are asked for, and not all that something busy has of it."""

from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest

from persistence.bridge.database import Database
from persistence.chat import archive, attachments, messages
from persistence.connect import sessions
from persistence.connection import Connection
from persistence.party import rows as parties
from persistence.shop.entitlements import EndedGrant, grants_ended
from tests.service.overdue import USERS
from tests.support.explaining import Explaining, Planning

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


# Nearly all blocks are old; of invites and sessions there are as many as of blocks.
LEFT_OVER = (
    USERS.replace("generate_series(1, 150)", "generate_series(1, 4000)"),
    "INSERT INTO blocks SELECT lpad(to_hex(i), 36, '0'), lpad(to_hex(4001 - i), 36, '0'), '',"
    " CASE WHEN i = 7 THEN 100 ELSE 1 END, 1 FROM generate_series(1, 4000) AS i",
    "INSERT INTO parties (id, founder_id, created_at_ms)"
    " SELECT lpad(to_hex(i), 36, 'z'), lpad(to_hex(i), 36, '0'), 1 FROM generate_series(1, 4000) AS i",
    "INSERT INTO party_invites (party_id, target_id, sender_id, created_at_ms, expires_at_ms)"
    " SELECT lpad(to_hex(i), 36, 'z'), lpad(to_hex(4001 - i), 36, '0'), lpad(to_hex(i), 36, '0'), 1, 9"
    " FROM generate_series(1, 4000) AS i",
    "INSERT INTO connect_servers (server_id, id, server_type, name, owner_id, secret, created_at_ms, updated_at_ms,"
    " last_seen_at_ms) SELECT 's' || i, lpad(to_hex(i), 24, '0'), 'server', 's', lpad(to_hex(i), 36, '0'),"
    " sha256('s'), 0, 0, 0 FROM generate_series(1, 4000) AS i",
    "INSERT INTO connect_sessions SELECT 's' || i, lpad(to_hex(4001 - i), 36, '0'), lpad(to_hex(i), 24, '0'), 'n', 1, 9"
    " FROM generate_series(1, 4000) AS i",
)
LEFT = {
    "invites": lambda conn: parties.invites_across_blocks(conn, None, 200, since_ms=50),
    "sessions": lambda conn: sessions.barred(conn, None, 200, since_ms=50),
}
"""{what a block has left over: how it is found}"""


async def test_what_blocks_have_left_is_sought_from_new_blocks(
    database: Database, subtests: pytest.Subtests
) -> None:
    async def fill(conn: Connection) -> None:
        for statement in LEFT_OVER:
            await conn.execute(statement)
        await conn.execute("ANALYZE")

    await database.transact(fill)
    one, other = f"{7:036x}", f"{3994:036x}"
    for name, read in LEFT.items():
        scanned: list[str] = []

        async def explained(conn: Connection, read: Read = read, scanned: list[str] = scanned) -> Any:
            return await read(cast(Connection, Explaining(conn, scanned)))

        with subtests.test(name):
            assert sorted(await database.read(explained)) == [(one, other), (other, one)]
            assert not scanned
