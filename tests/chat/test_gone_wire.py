"""Wire: what was deleted or edited away stands in no table, file or answer (contract §4)."""

import os
from pathlib import Path

import pytest
import trio

from actors.chat.sweeping import sweep
from persistence.connection import Connection
from persistence.journal import journal
from routes.chat.parts import BLOBS, CHAT_KINDS
from tests.chat.play import a_file
from tests.live.play import subscribe
from tests.support.canaries import Overheard, dump, found, kept_in_files
from tests.support.world import Player, Room, World

WORD = "zwiebelkuchen"
"""Stands in everything that is deleted, and nowhere else."""

OTHER = "pfannkuchen"
"""Stands in what takes its place."""


async def keyed(player: Player, key: str, path: str, body: object) -> object:
    """A POST under an Idempotency-Key."""
    answer = await player.ask("POST", path, body, headers={"idempotency-key": key})
    assert answer.status_code in (200, 201), answer.text
    return answer.json()


def the_draft(ben: Player, attachment_id: str) -> dict[str, object]:
    """A message with the word in all its parts."""
    return {
        "content": f"{WORD} <@user:{ben.id}>",
        "mentions": [{"id": ben.id, "label": f"{WORD}"}],
        "attachmentIds": [attachment_id],
        "poll": {"question": f"{WORD}?", "options": [{"label": f"{WORD} a"}, {"label": f"{WORD} b"}]},
    }


async def everything(ann: Player, ben: Player, room: Room, people: list[str]) -> dict[str, str]:
    """Messages of ann's with the word in every place that they have; returns {what it is: its id}."""
    file = await keyed(
        ann, "file", f"{room.path}/attachments", a_file(WORD.encode(), f"{WORD}.txt", "text/plain")
    )
    assert isinstance(file, dict)
    draft = the_draft(ben, file["id"])
    sent = await keyed(ann, "sent", room.messages, draft)
    assert isinstance(sent, dict)
    vote = f"{room.message(sent['id'])}/poll/vote"
    await keyed(ben, "vote", vote, {"optionIds": ["1"]})
    # Their answers show the newest message.
    await keyed(ben, "found", "/v1/social/chat/conversations", {"kind": "group", "participantIds": people})
    await ann.do("PATCH", room.message(sent["id"]), {"content": f"{WORD} again"})
    await ann.say(room, f"a second {WORD}", clientMessageId="one")
    return {"sent": sent["id"], "file": file["url"]}


async def snapshot(world: World, room: Room) -> None:
    """Let the conversation keep its state, as it does now and then."""
    system, kind = world.home("conversation", room.id).system, world.service.of(CHAT_KINDS).conversation
    actor = system._actors[kind.name, room.id]
    assert actor.activation is not None
    await actor.activation.save()


async def asked_again(ann: Player, ben: Player, room: Room, ids: dict[str, str]) -> None:
    """Every read, and every write again under its key."""
    for player in (ann, ben):
        await player.get(room.path)
        await player.get(room.messages)
        await player.get(f"{room.path}/events")
        await player.get("/v1/social/chat/conversations")
        await player.ask("GET", f"{room.message(ids['sent'])}/revisions")
        await player.ask("GET", ids["file"])
        await player.get("/v1/notifications")


async def replayed(player: Player, room: Room) -> str:
    """What a client is told that comes back to the live channel and has missed everything."""
    past = await player.get(f"{room.path}/events")
    since = {"epoch": past["epoch"], "offset": 0}
    async with player.live("/v1/social/live?channels=") as socket:
        await subscribe(socket, room, since=since, mode="delta")
        return "\n".join([await socket.receive_text() for _ in past["items"]])


@pytest.mark.parametrize("in_memory", [True, False], ids=["watched", "asleep"])
async def test_deleted_text_stands_in_no_table_file_or_answer(world: World, *, in_memory: bool) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, cid)
    ids = await everything(ann, ben, room, [ann.id, cid.id])
    await snapshot(world, room)
    assert found([WORD], await world.service.database.read(dump))
    if in_memory:
        async with ben.live(f"{room.path}/live"):
            await delete_all(ann, room)
    else:
        await delete_all(ann, room)
    await sweep_files(world)
    text = await world.service.database.read(dump)
    assert found([WORD], text) == [], [line for line in text.splitlines() if found([WORD], line)]
    for content in kept_in_files(world.service.config.data_dir / "blobs"):
        assert WORD not in content
    overheard = Overheard(world)
    await asked_again(ann, ben, room, ids)
    repeated = await ann.ask(
        "POST",
        room.messages,
        the_draft(ben, ids["file"].rpartition("/")[2]),
        headers={"idempotency-key": "sent"},
    )
    assert repeated.status_code == 201
    assert repeated.headers["idempotent-replayed"] == "true"
    assert repeated.json()["id"] == ids["sent"]
    assert repeated.json()["deletedAt"] is not None
    await ben.ask(
        "POST",
        f"{room.message(ids['sent'])}/poll/vote",
        {"optionIds": ["1"]},
        headers={"idempotency-key": "vote"},
    )
    file = a_file(WORD.encode(), f"{WORD}.txt", "text/plain")
    gone = await ann.ask("POST", f"{room.path}/attachments", file, headers={"idempotency-key": "file"})
    assert gone.status_code == 404
    assert WORD not in await replayed(ben, room)
    assert overheard.saying(WORD) == []


async def delete_all(ann: Player, room: Room) -> None:
    for message in (await ann.get(room.messages))["items"]:
        await ann.do("DELETE", room.message(message["id"]), status=200)


async def sweep_files(world: World) -> None:
    """The files of deleted messages go a minute later."""
    age(world.service.config.data_dir / "blobs")
    service = world.service
    await sweep(service.database, service.of(BLOBS), trio.to_thread.run_sync, now_ms=service.clock.now_ms())


def age(folder: Path) -> None:
    """Let all files be old."""
    for path in [path for path in folder.rglob("*") if path.is_file()]:
        os.utime(path, (1_000, 1_000))


async def test_edited_text_stands_among_the_revisions_alone(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    sent = await keyed(ann, "sent", room.messages, {"content": f"{WORD} one"})
    assert isinstance(sent, dict)
    await snapshot(world, room)
    await ann.do("PATCH", room.message(sent["id"]), {"content": f"{OTHER} two"})
    tables = await world.service.database.read(tables_with)
    assert tables == ["message_revisions"]
    overheard = Overheard(world)
    events = (await ben.get(f"{room.path}/events"))["items"]
    assert [one["event"] for one in events] == ["message_created", "message_edited"]
    assert {one["data"]["content"] for one in events} == {f"{OTHER} two"}
    again = await ann.ask(
        "POST", room.messages, {"content": f"{WORD} one"}, headers={"idempotency-key": "sent"}
    )
    assert again.json()["content"] == f"{OTHER} two"
    assert WORD not in await replayed(ben, room)
    assert overheard.saying(WORD) == []
    revisions = await ben.get(f"{room.message(sent['id'])}/revisions")
    assert [one["content"] for one in revisions["items"]] == [f"{WORD} one", f"{OTHER} two"]


async def tables_with(conn: Connection) -> list[str]:
    tables = await conn.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    holding = []
    for table in tables:
        name = table["tablename"]
        rows = await conn.fetch(f'SELECT t::text AS row FROM "{name}" t')
        if any(found([WORD], row["row"]) for row in rows):
            holding.append(name)
    return holding


async def test_a_snapshot_that_is_just_being_saved_brings_nothing_back(world: World) -> None:
    """It was made before the deletion, and reaches the database after it."""
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    sent = await ann.say(room, WORD)
    system, kind = world.home("conversation", room.id).system, world.service.of(CHAT_KINDS).conversation
    activation = system._actors[kind.name, room.id].activation
    assert activation is not None
    stale = activation.seq, kind.dump(activation.state)
    await ann.do("DELETE", room.message(sent["id"]), status=200)
    await world.service.database.transact(keep_snapshot, kind.name, room.id, *stale)
    assert await world.service.database.read(tables_with) == []


async def keep_snapshot(conn: Connection, kind: str, id: str, seq: int, state: bytes) -> None:
    await journal.save_snapshot(conn, kind, id, seq=seq, version=1, state=state)


async def test_replays_from_memory_do_not_bring_it_back(world: World) -> None:
    """Somebody watches all the time, so that the newest events are in memory."""
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ann.live(f"{room.path}/live") as watching:
        await watching.receive_json()
        sent = await ann.say(room, WORD)
        await ann.say(room, OTHER)
        await ann.do("DELETE", room.message(sent["id"]), status=200)
        told = await replayed(ben, room)
    assert WORD not in told
    assert OTHER in told
