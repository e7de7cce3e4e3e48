"""Wire: users who are erased (contract §8)."""

from pathlib import Path
from typing import Any

import pytest
import trio

from actors.ids import new_uuid
from persistence.chat.archive import KEPT_LIVE
from persistence.connection import Connection
from persistence.errors import RowsRejected
from persistence.users.erasure import unswept
from routes.domains import DOMAINS
from tests.chat.history import archive_old
from tests.chat.play import a_file
from tests.connect.play import claimed
from tests.friends.play import FRIENDS, ask, make_friends
from tests.support.one_world import in_one_world
from tests.support.waiting import patience
from tests.support.world import World, open_world
from tests.users.play import again, erase, one, swept

PARTY = "/v1/social/party"


def test_a_name_goes_from_what_repeats_it_after_it_is_gone_from_where_it_is_said():
    order = [domain.name for domain in reversed(DOMAINS) if domain.forget_user is not None]
    assert order == ["connect", "chat", "party", "notifications", "operations"]


async def test_nothing_is_left_of_a_user(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    await make_friends(ann, ben)
    await ask(ann, cid)
    await ann.do("POST", "/v1/profile/shares", {"name": "mine", "manifest": {}})
    await world.grant(ann, "shop:manage")
    root = await erase(world, ann)
    assert await root.refused("GET", one(ann)) == (404, "NOT_FOUND")
    assert await root.refused("DELETE", one(ann)) == (404, "NOT_FOUND")
    assert (await root.get("/v1/admin/users/lookup", query="ann"))["items"] == []
    assert (await ben.get(FRIENDS))["friends"] == []
    assert (await cid.get(f"{FRIENDS}/requests"))["incoming"] == []
    assert await ann.refused("GET", "/v1/profile/self") == (401, "UNAUTHENTICATED")
    fresh = again(world, ann)
    assert (await fresh.get("/v1/profile/shares"))["items"] == []
    assert "shop:manage" not in (await fresh.get("/v1/profile/self"))["permissions"]
    assert (await fresh.get(FRIENDS))["friends"] == []


async def test_the_trail_tells_of_it_without_a_name(world: World) -> None:
    ann = await world.player("Ann")
    root = await erase(world, ann)
    entry = (await root.get("/v1/admin/audit"))["items"][0]
    assert (entry["action"], entry["actorId"], entry["targetId"]) == ("user.erased", root.id, ann.id)
    assert (entry["targetName"], entry["detail"]) == (None, {})


async def test_messages_stay_and_their_sender_is_called_deleted(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    kept = await ann.do("POST", f"{room.path}/attachments", a_file(), status=201)
    await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    await ann.say(room, "hello")
    await ann.do("POST", room.messages, {"attachmentIds": [kept["id"]]}, status=201)
    assert (await ben.get(room.path))["lastMessagePreview"] == "[attachment] map.png"
    async with ben.live(f"{room.path}/live") as socket:
        assert "Ann" in str(await socket.receive_json())
        await erase(world, ann)
        with patience():
            while "Ann" in str(await socket.receive_json()):
                pass
    page = await ben.get(room.messages)
    assert [(one["senderName"], one["content"]) for one in page["items"]] == [
        ("Ben", f"<@user:{ann.id}>!"),
        ("deleted", "hello"),
        ("deleted", ""),
    ]
    assert page["items"][0]["mentions"][0]["label"] == "deleted"
    assert page["items"][2]["attachments"] == []
    assert (await ben.get(room.path))["lastMessagePreview"] == ""
    assert {one["name"] for one in page["conversation"]["participants"]} == {"deleted", "Ben"}
    assert await ben.refused("GET", kept["url"]) == (404, "NOT_FOUND")
    listed = await ben.get("/v1/social/chat/conversations")
    assert "Ann" not in str(listed)


async def test_old_and_archived_messages_and_those_of_groups_that_were_left(
    database_url: str, tmp_path: Path
) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, ben, cid = await world.players("Ann", "Ben", "Cid")
        room = await ben.talk_to(ann, cid)
        for number in range(KEPT_LIVE + 10):
            await (ann if number % 2 else ben).say(room, str(number))
        database = world.service.database
        late_ms = world.clock.now_ms() + 10**9
        assert await archive_old(database, before_ms=late_ms - 1_000, most=5) == 5
        await ann.do("DELETE", f"{room.path}/participants/{ann.id}", status=204)
        await erase(world, ann)
        items: list[Any] = []
        before: dict[str, object] = {}
        while not items or before["beforeMs"]:
            page = await ben.get(room.messages, limit=50, **before)
            items = page["items"] + items
            before = {"beforeMs": page["nextBeforeMs"]}
        assert len(items) == KEPT_LIVE + 10
        assert {(int(one["content"]) % 2, one["senderName"]) for one in items} == {(0, "Ben"), (1, "deleted")}
        assert await database.read(_names_ann) == 0


async def _names_ann(conn: Connection) -> int:
    found: int = await conn.fetchval(
        "SELECT (SELECT count(*) FROM messages WHERE position('\"Ann\"'::bytea IN record) > 0)"
        " + (SELECT count(*) FROM archived_messages WHERE position('\"Ann\"'::bytea IN record) > 0)"
    )
    return found


async def test_sockets_close_and_friends_are_told(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    root = await world.super_admin()
    async with ann.live() as own, ben.live("/v1/social/friends/live") as friends:
        assert (await friends.receive_json())["counts"]["total"] == 1
        await root.do("DELETE", one(ann), status=204)
        with patience():
            while (await friends.receive_json())["counts"]["total"]:
                pass
            assert (await own.wait_closed()).code == 4401


async def test_the_party_goes_on_without_them(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await ann.do("POST", PARTY)
    invited = await ann.do("POST", f"{PARTY}/invites", {"targetId": ben.id})
    await ben.do("POST", f"{PARTY}/invites/{invited['party']['id']}/accept")
    await erase(world, ann)
    party = (await ben.get(PARTY))["party"]
    assert (party["leaderId"], [one["playerId"] for one in party["members"]]) == (ben.id, [ben.id])


async def test_their_servers_go_with_them(world: World) -> None:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await erase(world, ann)
    answer = await server.ask(
        "POST", f"/v1/connect/servers/{server.id}/tokens", {"scopes": [], "ttlSeconds": 60}
    )
    assert answer.status_code == 401


@in_one_world(
    ("who", "code"),
    [
        ("anonymous", (401, "UNAUTHENTICATED")),
        ("user", (403, "FORBIDDEN")),
        ("moderator", (403, "FORBIDDEN")),
        ("admin", (403, "FORBIDDEN")),
        ("holder", (403, "FORBIDDEN")),
        ("oneself", (409, "INVALID_STATE")),
    ],
)
async def test_who_may(world: World, who: str, code: tuple[int, str]) -> None:
    ann, ben = await world.players("Ann", "Ben")
    asking, target = ben, ann
    match who:
        case "anonymous":
            asking = world.nobody()
        case "moderator" | "admin":
            await world.promote(ben, who)
        case "holder":
            await world.grant(ben, "admin:user:view")
        case "oneself":
            asking = target = await world.super_admin()
    assert await asking.refused("DELETE", one(target)) == code
    assert (await world.nobody().get(f"/v1/public/users/{target.id}"))["userId"] == target.id


async def test_nobody_and_malformed(world: World) -> None:
    root = await world.super_admin()
    for id in (new_uuid(bytes), "nonsense"):
        assert await root.refused("DELETE", f"/v1/admin/users/{id}") == (404, "NOT_FOUND")


async def test_of_many_who_erase_at_once_while_the_user_is_busy_one_does(world: World) -> None:
    """Whatever the user does meanwhile, afterwards they are gone."""
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    root = await world.super_admin()
    statuses: list[int] = []

    async def erase_too() -> None:
        statuses.append((await root.ask("DELETE", one(ann))).status_code)

    async def talk(number: int) -> None:
        await ann.ask("POST", room.messages, {"content": str(number)})

    async def arrive() -> None:
        await ann.ask("GET", "/v1/auth/verify")

    async with trio.open_nursery() as nursery:
        for number in range(10):
            nursery.start_soon(erase_too)
            nursery.start_soon(talk, number)
            nursery.start_soon(arrive)
    assert sorted(statuses) == [204] + [404] * 9
    await swept(world)
    assert await root.refused("GET", one(ann)) == (404, "NOT_FOUND")
    assert await world.service.database.read(_names_ann) == 0
    assert {one["senderName"] for one in (await ben.get(room.messages))["items"]} <= {"deleted"}


async def test_an_erasure_that_cannot_be_finished_hinders_no_other(world: World) -> None:
    root = await world.super_admin()
    ann, ben = await world.players("Ann", "Ben")

    async def refuse(conn: Connection) -> None:
        await conn.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN RAISE EXCEPTION '!' USING ERRCODE = 'check_violation'; END $$;"
            "CREATE TRIGGER refuse BEFORE UPDATE OR DELETE ON erased_users FOR EACH ROW"
            f" WHEN (OLD.user_id = '{ann.id}') EXECUTE FUNCTION refuse()"
        )

    await world.service.database.transact(refuse)
    for player in (ann, ben):
        await root.do("DELETE", one(player), status=204)
    with pytest.raises(RowsRejected):
        await swept(world)
    left, _ = await world.service.database.read(unswept, (-1, ""), 10)
    assert [erasure.user_id for erasure in left] == [ann.id]
