"""Wire: after a user was erased, their name and what they wrote of themselves stand in no row of any table."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.chat.sweeping import sweep as sweep_attachments
from persistence.blobs import RENEWED_SECONDS
from persistence.journal.history import ENDED_KEPT_MS
from persistence.party.rows import sweep_ended
from routes.chat.parts import BLOBS
from tests.friends.play import make_friends
from tests.party.play import PARTY
from tests.support.world import Player, World
from tests.users.kept import BARE_ID, COLUMNS, LETS_GO, NOTHING, OF_OTHERS, REWRITTEN, TABLES, UNPLAYED
from tests.users.play import erase
from tests.users.traces import NAME, SECRET, everything, in_a_party_of, once, standing, traces

KEPT = {
    NAME: set[str](),
    # What moderators were told; an address that nobody saves any more, for a day (`sweep_addresses`).
    SECRET: {"reports", "publications"},
}
"""{word: tables that may still hold it}"""


def files_holding(folder: Path, word: str) -> list[str]:
    """The files below a folder in which a word stands."""
    return [str(file) for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


@pytest.mark.parametrize("word", KEPT)
async def test_no_row_tells_of_them(world: World, word: str) -> None:
    ann, ben = await world.players(NAME, "Ben")
    await everything(world, ann, ben)
    database = world.service.database
    before: Any = await database.read(traces, word)
    assert len(before) >= 5
    await erase(world, ann)
    # Her party has ended with her; an hour later nothing tells of it any more.
    world.clock.advance(ENDED_KEPT_MS + 1)
    await database.transact(partial(sweep_ended, now_ms=world.clock.now_ms()), None, 100)
    after: Any = await database.read(traces, word)
    assert set(after) <= KEPT[word], after
    # Files that nothing shows go a little later.
    blobs = world.service.config.data_dir / "blobs"
    assert files_holding(blobs, word)
    world.clock.advance(int(2 * RENEWED_SECONDS * 1000))
    await sweep_attachments(
        database, world.service.of(BLOBS), trio.to_thread.run_sync, now_ms=world.clock.now_ms()
    )
    assert not files_holding(blobs, word)


async def test_their_id_stays_where_it_is_said_to_stay(world: World) -> None:
    """And each table that may keep something of them is written by `everything`, or said not to be."""
    ann, ben = await world.players(NAME, "Ben")
    await everything(world, ann, ben)
    database = world.service.database
    played = {*await database.read(traces, SECRET), *await database.read(traces, NAME)}
    played |= {table for table, _ in await database.read(standing, ann.id)}
    asked = {table for table, why in TABLES.items() if why not in {NOTHING, LETS_GO}}
    assert asked - played == UNPLAYED.keys()
    await erase(world, ann)
    stays = {
        (table, column)
        for table, column in await database.read(standing, ann.id)
        if TABLES.get(table) not in {OF_OTHERS, REWRITTEN}
    }
    assert stays <= {one for one, why in COLUMNS.items() if why.startswith(BARE_ID)}


async def test_a_party_that_lives_on_tells_nothing_of_them(world: World) -> None:
    ann, ben = await world.players(NAME, "Ben")
    await ben.do("POST", f"{PARTY}/invites", {"targetId": ann.id}, status=200)
    async with ben.live("/v1/social/live?channels=party") as socket:
        first = await socket.receive_until(type="snapshot", channel="party")
        await in_a_party_of(ben, ann)
        dan = await world.player("Eli")
        await ben.do("POST", f"{PARTY}/invites", {"targetId": dan.id}, status=200)
        shown = await socket.receive_until(type="snapshot", channel="party")
        while NAME not in str(shown):
            shown = await socket.receive_until(type="snapshot", channel="party")
        await erase(world, ann)
        while NAME in str(shown):
            shown = await socket.receive_until(type="snapshot", channel="party")
        # Neither from memory, while somebody looks, nor from rows.
        await told_nothing(ben, first)
    assert NAME not in str(await ben.get(PARTY))
    await told_nothing(ben, first)


async def told_nothing(player: Player, seen: Any) -> None:
    """Whoever comes back from before is shown nothing of her, at whatever offset they were."""
    for offset in range(seen["offset"], seen["offset"] + 6):
        async with player.live("/v1/social/live?channels=") as socket:
            await socket.receive_until(type="hello")
            since = {"epoch": seen["epoch"], "offset": offset}
            for mode in ("delta", "snapshot"):
                await socket.send_json(
                    {
                        "id": mode,
                        "op": "subscribe",
                        "channel": "party",
                        "since": since,
                        "params": {"mode": mode},
                    }
                )
                await socket.send_json({"id": f"{mode} is over", "op": "ping"})
                told = await socket.receive_json()
                while told.get("id") != f"{mode} is over":
                    assert NAME not in str(told)
                    told = await socket.receive_json()


async def test_a_live_conversation_replays_nothing_of_them(world: World) -> None:
    ann, ben = await world.players(NAME, "Ben")
    room = await ann.talk_to(ben)
    watch = {"op": "subscribe", "channel": room.channel, "params": {"mode": "delta"}}
    async with ben.live("/v1/social/live?channels=") as socket:
        await socket.receive_until(type="hello")
        await socket.send_json({"id": 1, **watch})
        first = await socket.receive_until(type="snapshot")
        await ann.say(room)
        await socket.receive_until(type="event", event="message_created")
        await erase(world, ann)
        async with ben.live("/v1/social/live?channels=") as other:
            await other.receive_until(type="hello")
            since = {"epoch": first["epoch"], "offset": first["offset"]}
            await other.send_json({"id": 1, **watch, "since": since})
            assert (await other.receive_until(type="reply"))["recovered"] is False
            told = await other.receive_until(type="snapshot")
            assert [one["senderName"] for one in told["data"]["items"]] == ["deleted"]
            assert NAME not in str(told)


async def test_what_others_have_done_of_them_is_not_done_twice(world: World) -> None:
    ann, ben = await world.players(NAME, "Ben")
    path, body = "/v1/social/chat/conversations", {"kind": "group", "participantIds": [ann.id]}
    response = await ben.ask("POST", path, body, headers=once(1))
    assert response.status_code == 201
    plain = {"kind": "group", "participantIds": [(await world.player("Cid")).id]}
    assert (await ben.ask("POST", path, plain, headers=once(2))).status_code == 201
    await erase(world, ann)
    again = await ben.ask("POST", path, body, headers=once(1))
    assert (again.status_code, again.json()["id"]) == (201, response.json()["id"])
    assert NAME not in again.text
    again = await ben.ask("POST", path, plain, headers=once(2))
    assert (again.status_code, again.headers["idempotent-replayed"]) == (201, "true")


async def test_what_was_missed_is_told_without_the_name(world: World) -> None:
    ann, ben, cid = await world.players(NAME, "Ben", "Cid")
    room = await ben.talk_to(cid, kind="group")
    await ben.do("POST", f"{room.path}/participants", {"userIds": [ann.id]})
    await ann.say(room, "hello")
    said = await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    await ben.do("PATCH", room.message(said["id"]), {"content": "never mind", "mentions": []})
    await ben.do("DELETE", room.message(said["id"]))
    poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}
    asked = await ann.do("POST", room.messages, {"poll": poll}, status=201)
    option = asked["poll"]["options"][0]["id"]
    await ben.do("POST", f"{room.message(asked['id'])}/poll/vote", {"optionIds": [option]})
    # What somebody has said who then left is forgotten as well.
    left = await ben.talk_to(ann, cid, kind="group")
    await ann.say(left, "bye")
    await ann.do("DELETE", f"{left.path}/participants/{ann.id}")
    paths = [f"{one.path}/events?since=0" for one in (room, left)]
    before = [await ben.get(path) for path in paths]
    assert all(NAME in str(page) for page in before)
    await erase(world, ann)
    for path, was in zip(paths, before, strict=True):
        page = await ben.get(path)
        assert NAME not in str(page)
        told = [(one["offset"], one["event"], one["data"].get("content")) for one in page["items"]]
        assert told[: len(was["items"])] == [
            (one["offset"], one["event"], one["data"].get("content")) for one in was["items"]
        ]
        assert page["epoch"] == was["epoch"]


async def test_notifications_call_them_deleted(world: World) -> None:
    ann, ben = await world.players(NAME, "Ben")
    await make_friends(ann, ben)
    await ann.do("POST", "/v1/social/party", status=200)
    await ann.do("POST", "/v1/social/party/invites", {"targetId": ben.id}, status=200)
    was = (await ben.get("/v1/notifications"))["items"]
    assert [one["kind"] for one in was] == ["party_invite", "friend_request"]
    await erase(world, ann)
    now = (await ben.get("/v1/notifications"))["items"]
    assert [one["data"].get("name") or one["data"]["senderName"] for one in now] == ["deleted"] * 2
    for one in (*was, *now):
        one["data"].pop("name", None)
        one["data"].pop("senderName", None)
    assert now == was
    async with ben.live("/v1/social/live?channels=notifications") as socket:
        assert NAME not in str(await socket.receive_until(type="snapshot", channel="notifications"))
