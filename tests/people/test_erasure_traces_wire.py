"""Wire: after a user was erased, their name and what they wrote of themselves stand in no row of any table."""

from functools import partial
from typing import Any

import pytest

from persistence.connection import Connection
from persistence.party.rows import ENDED_KEPT_MS, sweep_ended
from tests.capes.stage import SELECTION, cape_in, moderator
from tests.chat.test_attachments_wire import a_file
from tests.connect.play import claimed
from tests.friends.test_requests_wire import ask, make_friends
from tests.people.test_erasure_wire import erase
from tests.saved.test_own_wire import SAVED, save_all
from tests.support.world import Player, World
from tests.totems.test_totems_wire import carry
from tests.totems.test_totems_wire import upload as upload_totem

NAME, SECRET = "Quintessa", "zwiebelkuchen"
"""A name, and a word in everything that she keeps with us, that stand nowhere else."""

KEPT = {
    NAME: set[str](),
    # What moderators were told; an address that nobody saves any more, for a day (`sweep_addresses`).
    SECRET: {"reports", "publications"},
}
"""{word: tables that may still hold it}"""


async def traces(conn: Connection, word: str) -> dict[str, int]:
    """{table: rows that hold the word}; bytes are searched in their hexadecimal form."""
    names = [
        row["name"]
        for row in await conn.fetch(
            "SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE relkind IN ('r', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema')"
        )
    ]
    found = {}
    for name in names:
        count = await conn.fetchval(
            f'SELECT count(*) FROM "{name}" AS one'
            " WHERE position($1 IN lower(one::text)) > 0 OR position($2 IN one::text) > 0"
            " OR position($3 IN one::text) > 0",
            word.lower(),
            word.encode().hex(),
            word.lower().encode().hex(),
        )
        if count:
            found[name] = count
    return found


async def everything(world: World, ann: Player, ben: Player) -> None:
    """Ann leaves something in every corner that has one."""
    mod = await moderator(world)
    await make_friends(ann, ben)
    await ask(ann, await world.player("Cid"), note=SECRET)
    await ben.do("PATCH", f"/v1/social/friends/{ann.id}", {"favorite": True})
    room = await ann.talk_to(ben)
    await ann.do("POST", f"{room.path}/attachments", a_file(name=f"{SECRET}.png"), status=201)
    await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    await ann.say(room, "hello")
    await ann.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": SECRET}, status=201)
    await ben.do("POST", "/v1/social/friends/reports", {"targetId": ann.id}, status=201)
    await ann.do("PATCH", "/v1/profile/settings", {"uiStyle": {"payload": {"word": SECRET}}})
    await ann.do("POST", "/v1/profile/shares", {"name": SECRET, "manifest": {"word": SECRET}}, status=201)
    await ann.do("PUT", "/v1/profile/minecraft-options", {"options": {"word": SECRET}})
    (saved,) = await save_all(ann, f"{SECRET}.example")
    await ann.do("PATCH", f"{SAVED}/{saved}", {"favorite": True})
    made = await cape_in("approved", ann, mod, name=SECRET, description=f"{SECRET} by {NAME}")
    await ben.do("PUT", SELECTION, {"source": "native", "capeId": made["id"]})
    await carry(ben, await upload_totem(ann, fileName=f"{SECRET}.json"))
    await claimed(world, ann)
    await ann.do("POST", "/v1/connect/networks", {"name": SECRET}, status=201)
    await ann.do("POST", "/v1/social/party", status=200)
    await ann.do("POST", "/v1/social/party/invites", {"targetId": ben.id}, status=200)


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
