"""Archived messages of tests: history that is brought into a conversation, and live messages that grew old."""

import secrets

import msgspec
import trio

from actors.chat.archive import import_archive
from actors.chat.window import WINDOW_LINES
from actors.ids import new_object_id
from actors.kernel.store import Store
from persistence.connection import Connection
from routes.chat.jobs import archiving
from tests.support.waiting import patience
from tests.support.world import Player, Room, World


async def import_history(
    world: World,
    room: Room,
    sender: Player,
    at_ms: list[int],
    *,
    text: str = "old",
    reader: Player | None = None,
) -> None:
    """Archived messages of one sender, as `partyline archive import` brings them: `text`, and a number from 0.

    Args:
        reader: who is to see them in the end; left out: the sender.
    """
    reader = reader or sender
    lines = [
        msgspec.json.encode(
            {
                "conversationId": room.id,
                "senderId": sender.id,
                "senderName": sender.name,
                "content": f"{text} {number}",
                "createdAtMs": moment,
            }
        )
        for number, moment in enumerate(at_ms)
    ]
    now_ms = world.clock.now_ms()
    report = await import_archive(
        world.service.database,
        lines,
        now_ms=now_ms,
        new_id=lambda: new_object_id(now_ms, secrets.token_bytes),
    )
    assert not report.refused
    # A live conversation hears of it by a notification of the database.
    shown = min(len(at_ms), WINDOW_LINES)
    with patience():
        while len((await reader.get(room.messages, limit=WINDOW_LINES))["items"]) < shown:  # noqa: ASYNC110
            await trio.sleep(0.01)


async def archive_old(database: Store, *, before_ms: int, most: int = 10_000) -> int:
    """Archive messages that are older than a moment, as the job does in one batch; returns how many.

    Args:
        before_ms: epoch milliseconds.
        most: messages to archive at most.
    """
    before = await database.read(_archived)
    await archiving(database, lambda: before_ms).take(most)
    return await database.read(_archived) - before


async def _archived(conn: Connection) -> int:
    return int(await conn.fetchval("SELECT count(*) FROM archived_messages"))
