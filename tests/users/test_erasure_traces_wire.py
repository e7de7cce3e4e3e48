"""Wire: after a user was erased, their name and what they wrote of themselves stand in no row of any table."""

from base64 import b64encode
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.chat.sweeping import sweep as sweep_attachments
from persistence.blobs import RENEWED_SECONDS
from persistence.connection import Connection
from persistence.networks import gateway_routes
from persistence.networks.rows import RouteRow
from persistence.party.rows import ENDED_KEPT_MS, sweep_ended
from routes.chat.parts import BLOBS
from tests.banners.play import BANNERS
from tests.capes.stage import SELECTION, cape_in, moderator
from tests.chat.play import a_file
from tests.connect.play import claimed
from tests.friends.play import ask, make_friends
from tests.news.play import POLL, write
from tests.party.play import PARTY
from tests.saved_servers.play import SAVED, save_all
from tests.services.play import extension, service
from tests.shop.play import open_shop
from tests.support.world import Player, World
from tests.totems.play import carry
from tests.totems.play import upload as upload_totem
from tests.users.play import erase
from tests.voice.play import join, node, node_server, private

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


def once(number: int) -> dict[str, str]:
    """The headers of a request whose answer is kept."""
    return {"idempotency-key": f"request-{number}"}


async def answered(ann: Player, ben: Player) -> None:
    """Answers of both are kept, and say what she is called and has written."""
    shared = {"name": SECRET, "manifest": {"word": SECRET}}
    group = {"kind": "group", "participantIds": [ann.id]}
    for number, (player, path, body) in enumerate((
        (ann, "/v1/profile/shares", shared),
        (ann, "/v1/social/chat/conversations", {"kind": "group", "participantIds": [ben.id]}),
        (ben, "/v1/social/chat/conversations", group),
        (ben, "/v1/social/party/invites", {"targetId": ann.id}),
    )):  # fmt: skip
        response = await player.ask("POST", path, body, headers=once(number))
        assert response.status_code in {200, 201}, response.text


async def ordered(world: World, ann: Player) -> None:
    """Ann buys something, and says where she wants to come back to."""
    shop = await open_shop(world)
    back = f"{world.service.config.base_url}/?word={SECRET}&name={NAME}"
    await shop.buy(ann, await shop.product(), successUrl=back, cancelUrl=back)


async def in_a_party_of(ben: Player, ann: Player) -> str:
    """Ann comes into Ben's party, invites somebody and goes; the party lives on."""
    party_id = (await ben.get(PARTY))["party"]["id"]
    await ann.do("POST", f"{PARTY}/invites/{party_id}/accept", status=200)
    await ann.do("POST", f"{PARTY}/invites", {"targetId": (await ann.world.player("Dan")).id}, status=200)
    await ann.do("POST", f"{PARTY}/leave", status=200)
    return str(party_id)


async def everything(world: World, ann: Player, ben: Player) -> None:
    """Ann leaves something in every corner that has one."""
    mod = await moderator(world)
    await make_friends(ann, ben)
    await ask(ann, await world.player("Cid"), note=SECRET)
    await ben.do("PATCH", f"/v1/social/friends/{ann.id}", {"favorite": True})
    room = await ann.talk_to(ben)
    await ann.do("POST", f"{room.path}/attachments", a_file(name=f"{SECRET}.png"), status=201)
    text = b64encode(f"{SECRET} by {NAME}".encode()).decode()
    written = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": text}
    uploaded = await ann.do("POST", f"{room.path}/attachments", written, status=201)
    await ann.say(room, "look", attachmentIds=[uploaded["id"]])
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
    server = await claimed(world, ann)
    route = RouteRow(
        server_id=server.id, route_host=f"{SECRET}.example", backend_host=f"{SECRET}.example", backend_port=1,
        proxy_protocol=False, created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip
    assert await world.service.database.transact(gateway_routes.put, route)
    made = await ann.do("POST", "/v1/connect/networks", {"name": SECRET}, status=201)
    scope = {"type": "network", "id": made["network"]["networkId"]}
    article = await write(ann, f"{SECRET} by {NAME}", body=SECRET, scope=scope, tags=[SECRET], poll=POLL)
    await ann.do("POST", f"/v1/news/{article['id']}/poll/vote", {"optionIds": ["1"]}, status=200)
    await ann.do("PUT", "/v1/news/follows", {"items": [scope, {"type": "category", "id": SECRET}]})
    await ann.do("POST", "/v1/launcher/performance-reports", {"word": SECRET, "name": NAME}, status=202)
    await ann.do("POST", BANNERS, {"name": SECRET, "baseColor": "red"}, status=201)
    await ordered(world, ann)
    await service(ann, await extension(ben, "board"), SECRET)
    await ann.get("/v1/quests/daily-games")
    await node(world, await node_server(world))
    await join(ann, await private(ann, ben))
    note = {"text": f"{NAME}: {SECRET}"}
    noted = await mod.ask("POST", f"/v1/admin/users/{ann.id}/notes", note, headers=once(9))
    assert noted.status_code == 201
    await answered(ann, ben)
    await in_a_party_of(ben, ann)
    await ann.do("POST", "/v1/social/party", status=200)
    await ann.do("POST", "/v1/social/party/invites", {"targetId": ben.id}, status=200)


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
            assert (await other.receive_until(type="reply"))["recovered"] is True
            told = await other.receive_until(type="event", event="message_created")
            assert told["data"]["senderName"] == "deleted"


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
