"""Wire: a sign-in link works once, for whom it was made, and only who may be somebody makes one for them."""

import pytest
import trio

from tests.notifications.play import opened
from tests.sessions.play import LINKS, MINUTE_MS, SESSIONS, Browser, link_of, signed_in
from tests.support.one_world import in_one_world
from tests.support.world import World, open_world
from tests.users.play import one

INSPECT = f"{LINKS}/inspect"
GONE = (404, "NOT_FOUND")


@pytest.mark.both_edges
async def test_a_link_is_looked_at_and_used_once(world: World) -> None:
    ann, browser = await world.player("Ann"), Browser(world)
    made = await ann.do("POST", LINKS, status=201)
    assert made.keys() == {"url", "expiresAt"}
    code = made["url"].partition("#code=")[2]
    for _ in range(2):
        assert (await browser.do("POST", INSPECT, {"code": code}, status=200))["name"] == "Ann"
    assert (await browser.enter(code=code))["user"]["id"] == ann.id
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == GONE
    assert await browser.refused("POST", INSPECT, {"code": code}) == GONE


async def test_fifty_at_once_make_one_session(database_url, tmp_path) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        code, statuses = await link_of(ann), []

        async def enter() -> None:
            statuses.append((await Browser(world).ask("POST", SESSIONS, {"code": code})).status_code)

        async with trio.open_nursery() as nursery:
            for _ in range(50):
                nursery.start_soon(enter)
        assert sorted(statuses) == [201] + [404] * 49
        assert len((await ann.get(SESSIONS))["items"]) == 1


async def test_a_link_is_over_after_ten_minutes(world: World) -> None:
    code = await link_of(await world.player("Ann"))
    world.advance(10 * MINUTE_MS)
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == GONE


async def test_of_too_many_links_the_oldest_end(world: World) -> None:
    ann, codes = await world.player("Ann"), []
    for _ in range(11):
        world.advance(1)
        codes.append(await link_of(ann))
    assert await Browser(world).refused("POST", SESSIONS, {"code": codes[0]}) == GONE
    await Browser(world).enter(code=codes[1])
    assert (await (await world.super_admin()).get("/v1/admin/audit", actorId=ann.id))["items"] == []


async def test_a_super_admin_lets_somebody_in(world: World) -> None:
    """It is on record, the user is told, and it is no way to be another super-admin."""
    root, ann = await world.super_admin(), await world.player("Ann")
    async with ann.live("/v1/social/live?channels=") as socket:
        await opened(socket)
        code = await link_of(root, ann)
        told = (await socket.receive_until(type="event"))["data"]["notification"]
    assert (told["kind"], told["actorId"], told["data"]) == ("sign_in_link", root.id, {})
    entry = (await root.get("/v1/admin/audit"))["items"][0]
    assert (entry["action"], entry["actorId"], entry["targetId"]) == ("sign-in-link.made", root.id, ann.id)
    browser = Browser(world)
    assert (await browser.enter(code=code))["user"]["id"] == ann.id
    other = await world.super_admin()
    assert await root.refused("POST", LINKS, {"userId": other.id}) == (403, "FORBIDDEN")


async def test_nobody_else_lets_others_in(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    admin = await world.ranked("Cid", "admin")
    for player in (ann, admin):
        assert await player.refused("POST", LINKS, {"userId": ben.id}) == (403, "FORBIDDEN")
    root = await world.super_admin()
    assert await root.refused("POST", LINKS, {"userId": "00000000-0000-4000-8000-000000000000"}) == GONE
    assert await root.refused("POST", LINKS, {"userId": "x"}) == (422, "VALIDATION_FAILED")


async def test_who_has_become_a_super_admin_is_not_let_in_by_another(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    code = await link_of(root, ann)
    await world.service.database.transact(_promote, ann.id)
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == GONE


async def test_who_is_dismissed_lets_nobody_in_any_more(world: World) -> None:
    """With a link that was ready; what they have made for themselves signs them in as who they are now."""
    root, other = await world.super_admin(), await world.ranked("Eve", "super-admin")
    ann = await world.player("Ann")
    code, own = await link_of(other, ann), await link_of(other)
    await root.do("DELETE", f"{one(other)}/roles/super-admin", status=200)
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == GONE
    assert (await Browser(world).enter(code=own))["user"]["id"] == other.id
    await root.do("PUT", f"{one(other)}/roles/super-admin", status=200)
    assert (await Browser(world).enter(code=code))["user"]["id"] == ann.id


async def _promote(conn, user_id: str) -> None:
    await conn.execute("INSERT INTO user_roles VALUES ($1, 'super-admin', 0)", user_id)


async def test_a_stolen_token_of_a_super_admin_lets_nobody_in_for_longer_than_itself(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    console, thief, victim = Browser(world), Browser(world), Browser(world)
    await console.enter(code=await link_of(root))
    thief.holds({"token": console.token, "user": {"id": root.id, "name": root.name}})
    await victim.enter(code=await link_of(thief, ann))
    detour, second_victim = Browser(world), Browser(world)
    await detour.enter_as(thief)
    await second_victim.enter(code=await link_of(detour, ann))
    let_in = Browser(world)
    await let_in.enter(code=await link_of(console, ann))
    world.advance(11 * MINUTE_MS)
    assert [await one.is_out() for one in (victim, second_victim, let_in)] == [True, True, False]


async def test_a_sign_in_never_takes_over_an_earlier_session(world: World) -> None:
    """Fixation: whatever cookie a browser brings, it leaves with another one."""
    ann, ben = await world.players("Ann", "Ben")
    browser = await signed_in(ann)
    before = dict(browser.cookies)
    await browser.enter(code=await link_of(ben))
    assert browser.cookies != before
    assert browser.id == ben.id
    stale = Browser(world)
    stale.cookies = before
    assert (await stale.renew())["user"]["id"] == ann.id


@in_one_world("body", [{"code": ""}, {"code": "x" * 201}, {"code": 1}])
async def test_a_malformed_code_is_refused(world: World, body: dict[str, object]) -> None:
    for path in (SESSIONS, INSPECT):
        assert (await Browser(world).refused("POST", path, body))[0] == 422


@pytest.mark.one_node(because="it counts to the last token")
async def test_wrong_codes_are_counted(world: World) -> None:
    world.clock.stop()
    statuses = [(await Browser(world).ask("POST", INSPECT, {"code": "x"})).status_code for _ in range(61)]
    assert statuses == [404] * 60 + [429]
