"""Wire: conversations that an import makes while the service runs are in the inboxes that are open."""

import secrets
from typing import Any

import msgspec

from actors.chat.archive import import_archive
from actors.chat.units import Creation, create
from actors.ids import new_object_id
from persistence.chat.conversations import ConversationRow
from persistence.connection import Connection
from tests.support.waiting import patience
from tests.support.world import CONVERSATIONS, Player, World

MINUTE_MS = 60_000


async def imported(world: World, sender: Player, *others: Player) -> None:
    """A message of a day ago in a conversation of these, as `partyline archive import` brings it."""
    now_ms = world.clock.now_ms()
    line = {
        "participantIds": [sender.id, *(other.id for other in others)],
        "kind": "direct" if len(others) == 1 else "group",
        "senderId": sender.id,
        "senderName": sender.name,
        "content": "old",
        "createdAtMs": now_ms - 2 * MINUTE_MS,
    }
    report = await import_archive(
        world.service.database,
        [msgspec.json.encode(line)],
        now_ms=now_ms,
        new_id=lambda: new_object_id(now_ms, secrets.token_bytes),
    )
    assert (report.imported, report.refused) == (1, ())


async def test_an_imported_conversation_comes_into_open_inboxes(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    for others in ((ben,), (ben, cid)):
        async with (
            ann.live("/v1/social/live?channels=inbox") as one,
            ben.live("/v1/social/chat/live") as other,
        ):
            await one.receive_until(type="snapshot")
            await other.receive_json()
            await imported(world, ann, *others)
            with patience():
                told: list[Any] = [await one.receive_until(type="snapshot"), await other.receive_json()]
        listed = (await ann.get(CONVERSATIONS))["items"]
        assert told[0]["data"]["conversations"] == listed
        assert {each["id"] for each in told[1]["conversations"]} == {each["id"] for each in listed}


async def test_an_imported_conversation_that_nobody_was_told_of_is_shown_once_this_process_listens_again(
    world: World,
) -> None:
    ann, ben = await world.players("Ann", "Ben")
    now_ms = world.clock.now_ms()
    id, epoch = (new_object_id(now_ms, secrets.token_bytes) for _ in range(2))
    made = Creation(
        row=ConversationRow(id, "direct", None, None, now_ms),
        caller_id=ann.id,
        member_ids=(ann.id, ben.id),
        pointers={ann.id: "/participantIds/0", ben.id: "/participantIds/1"},
        epoch=epoch[-8:],
    )

    async def lose_connections(conn: Connection) -> None:
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    async with ann.live("/v1/social/live?channels=inbox") as socket:
        assert (await socket.receive_until(type="snapshot"))["data"]["conversations"] == []
        # What an import leaves behind whose announcement has not come.
        await world.service.database.transact(create, made)
        await world.service.database.read(lose_connections)
        with patience():
            shown: Any = await socket.receive_until(type="snapshot")
        assert [each["id"] for each in shown["data"]["conversations"]] == [id]
