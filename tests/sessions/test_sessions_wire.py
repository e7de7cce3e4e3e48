"""Wire: a session begins, is renewed and ends, with its tokens and its sockets, and never outlives what made it."""

from pathlib import Path

import pytest
import trio

from persistence.sessions import sessions
from routes.sessions.parts import SIGNED_IN
from tests.sessions.play import (
    CURRENT,
    DAY_MS,
    HOUR_MS,
    LINKS,
    MINUTE_MS,
    RENEW,
    SESSIONS,
    VERIFY,
    Browser,
    link_of,
    signed_in,
)
from tests.support.jobs import job_named
from tests.support.losing import proxy
from tests.support.losing import world as fragile
from tests.support.proxy import Proxy
from tests.support.waiting import wait_until
from tests.support.world import World, open_world
from tests.users.play import erase

__all__ = ["fragile", "proxy"]

CLOSED = 4401
REVOKE = "/v1/auth/revoke"


@pytest.mark.both_edges
async def test_a_token_signs_a_browser_in_and_signing_out_ends_it(world: World) -> None:
    ann, browser = await world.player("Ann"), Browser(world)
    begun = await browser.enter_as(ann)
    assert begun["user"] == {"id": ann.id, "name": "Ann"}
    (said,) = browser.set
    assert said.startswith("partyline=")
    assert all(part in said for part in ("Path=/", "HttpOnly", "SameSite=Strict"))
    renewed = await browser.renew()
    assert renewed["token"] != begun["token"]
    assert renewed["permissions"] == (await browser.get(VERIFY))["permissions"]
    async with browser.live() as socket:
        assert (await socket.receive_json())["type"] == "hello"
        assert (await browser.ask("DELETE", CURRENT)).status_code == 204
        assert (await socket.wait_closed()).code == CLOSED
    assert browser.cookies == {}
    assert await browser.is_out()
    assert (await ann.ask("GET", VERIFY)).status_code == 200
    assert (await browser.ask("DELETE", CURRENT)).status_code == 204


async def test_a_session_is_bounded_by_the_token_that_made_it(world: World) -> None:
    ann, browser = await world.player("Ann", ttl_seconds=1800), Browser(world)
    await browser.enter_as(ann)
    (shown,) = (await browser.get(SESSIONS))["items"]
    assert (shown["madeBy"], shown["current"]) == ("token", True)
    world.advance(25 * MINUTE_MS)
    await browser.renew()
    world.advance(6 * MINUTE_MS)
    assert await browser.is_out()


async def test_ten_stolen_minutes_stay_ten_minutes(world: World) -> None:
    """Neither a session nor a link that a stolen token asks for outlives that token."""
    ann = await signed_in(await world.player("Ann"))
    by_token, by_link = Browser(world), Browser(world)
    thief = Browser(world)
    thief.holds({"token": ann.token, "user": {"id": ann.id, "name": ann.name}})
    await by_token.enter_as(thief)
    await by_link.enter(code=await link_of(thief))
    assert [one["madeBy"] for one in (await ann.get(SESSIONS))["items"]] == ["link", "token", "link"]
    world.advance(11 * MINUTE_MS)
    assert [await one.is_out() for one in (by_token, by_link)] == [True, True]
    await ann.renew()


async def test_what_was_made_from_a_session_ends_with_it(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    phone, tablet = Browser(world), Browser(world)
    await phone.enter(code=await link_of(ann))
    await tablet.enter(code=await link_of(phone))
    world.advance(DAY_MS)
    for one in (ann, phone, tablet):
        await one.renew()
    await ann.do("DELETE", CURRENT, status=204)
    assert [await one.is_out() for one in (ann, phone, tablet)] == [True, True, True]


async def test_a_link_ends_with_the_session_that_asked_for_it(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    code = await link_of(ann)
    await ann.do("DELETE", CURRENT, status=204)
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == (404, "NOT_FOUND")


async def _renews(browser: Browser) -> bool:
    browser.forget()
    return (await browser.ask("POST", RENEW)).status_code == 200


@pytest.mark.parametrize(
    ("role", "unused_ms", "whole_ms"),
    [("user", 30 * DAY_MS, 180 * DAY_MS), ("admin", 12 * HOUR_MS, 7 * DAY_MS)],
)
async def test_how_long_it_lasts(database_url, tmp_path, role: str, unused_ms: int, whole_ms: int) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        player = await world.player("Ann") if role == "user" else await world.ranked("Ann", role)
        idle, busy = await signed_in(player), await signed_in(player)
        for _ in range(whole_ms // (unused_ms - MINUTE_MS)):
            world.advance(unused_ms - MINUTE_MS)
            assert await _renews(busy)
        assert not await _renews(idle)
        world.advance(whole_ms % (unused_ms - MINUTE_MS))
        assert not await _renews(busy)


async def test_a_super_admin_is_signed_in_for_hours(world: World) -> None:
    root, browser = await world.super_admin(), Browser(world)
    await browser.enter_as(root)
    (shown,) = (await browser.get(SESSIONS))["items"]
    assert shown["expiresAt"] <= (await root.get(VERIFY))["expiresAt"]


async def test_seeing_and_ending_ones_sessions(world: World) -> None:
    ann, ben = [await signed_in(one) for one in await world.players("Ann", "Ben")]
    other = await signed_in(ann)
    items = (await ann.get(SESSIONS))["items"]
    assert [(one["current"], one["address"]) for one in items] == [(False, "127.0.0.1"), (True, "127.0.0.1")]
    assert items[0].keys() == {
        "id", "current", "madeBy", "createdAt", "lastUsedAt", "expiresAt", "address", "browser",
    }  # fmt: skip
    path = f"{SESSIONS}/{items[0]['id']}"
    assert await ben.refused("DELETE", path) == (404, "NOT_FOUND")
    async with other.live() as socket:
        await socket.receive_json()
        await ann.do("DELETE", path, status=204)
        assert (await socket.wait_closed()).code == CLOSED
    assert await other.is_out()
    assert await ann.refused("DELETE", path) == (404, "NOT_FOUND")
    await ann.renew()


async def test_ending_all_others(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    others = [await signed_in(ann) for _ in range(3)]
    code = await link_of(ann)
    await ann.do("DELETE", SESSIONS, status=204)
    assert [await one.is_out() for one in others] == [True] * 3
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == (404, "NOT_FOUND")
    await ann.renew()
    assert len((await ann.get(SESSIONS))["items"]) == 1


async def test_of_too_many_the_one_not_used_for_the_longest_time_ends(database_url, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann = await world.player("Ann")
        first, second = Browser(world), Browser(world)
        for browser in (first, second):
            await browser.enter_as(ann)
        world.advance(1000)
        await first.renew()
        for _ in range(31):
            await Browser(world).enter_as(ann)
        assert [await one.is_out() for one in (first, second)] == [False, True]
        assert len((await first.get(SESSIONS))["items"]) == 32


@pytest.mark.both_edges
async def test_revoking_tokens_ends_sessions(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    code = await link_of(ann)
    await ann.do("POST", REVOKE, status=204)
    assert await ann.is_out()
    assert await Browser(world).refused("POST", SESSIONS, {"code": code}) == (404, "NOT_FOUND")


async def test_an_erased_user_is_signed_out_and_stays_out(world: World) -> None:
    player = await world.player("Ann")
    ann = await signed_in(player)
    await erase(world, player)
    assert await ann.is_out()
    world.advance(2000)
    # The launcher still holds a token of another issuer, say: the user begins anew, and the old session is not theirs.
    again = await world.player("Ann")
    again.id = player.id
    again.headers = {"authorization": f"Bearer {world.token(player.id, 'Ann')}"}
    await again.get(VERIFY)
    assert await ann.is_out()


async def test_an_end_outlives_a_restart(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        stays, ends = [await signed_in(one) for one in await world.players("Ann", "Ben")]
        await ends.do("DELETE", CURRENT, status=204)
    async with open_world(database_url, tmp_path) as world:
        stays.world = ends.world = world
        assert await ends.is_out()
        assert not await stays.is_out()


async def test_another_process_hears_of_an_end(database_url: str, tmp_path: Path) -> None:
    """Two services on one database: what ends at one is refused by the other, and its sockets close."""
    async with open_world(database_url, tmp_path) as world:
        ann = await signed_in(await world.player("Ann"))
        signed = world.service.of(SIGNED_IN)
        async with ann.live() as socket:
            await socket.receive_json()
            sid = (await ann.get(SESSIONS))["items"][0]["id"]
            await world.service.database.transact(_end_elsewhere, sid)
            assert (await socket.wait_closed()).code == CLOSED
        assert len(signed) == 1
        assert await ann.is_out()


async def test_ends_that_were_missed_are_looked_up(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    await ann.get(VERIFY)
    async with ann.live() as socket:
        await socket.receive_json()
        await world.service.database.transact(_remove_silently, ann.id)
        world.service.of(SIGNED_IN).heard("")
        assert (await socket.wait_closed()).code == CLOSED
    assert await ann.is_out()


async def test_looking_up_ends_that_were_missed_ends_no_session_that_lives(world: World) -> None:
    ann, ben = [await signed_in(await world.player(name)) for name in ("Ann", "Ben")]
    async with ann.live() as socket, ben.live() as other:
        await socket.receive_json()
        await other.receive_json()
        await world.service.database.transact(_remove_silently, ann.id)
        world.service.of(SIGNED_IN).heard("")
        assert (await socket.wait_closed()).code == CLOSED
        await other.send_json({"id": 1, "op": "ping"})
        await other.receive_until(type="pong")
    assert (await ben.ask("GET", VERIFY)).status_code == 200


async def _end_elsewhere(conn, session_id: str) -> None:
    await sessions.end(conn, (session_id,))


async def _remove_silently(conn, user_id: str) -> None:
    await conn.execute("DELETE FROM sessions WHERE user_id = $1", user_id)


@pytest.mark.parametrize("landed", [True, False])
async def test_an_end_of_unknown_outcome_is_followed(fragile: World, proxy: Proxy, *, landed: bool) -> None:
    ann = await signed_in(await fragile.player("Ann"))
    async with ann.live() as socket:
        await socket.receive_json()
        proxy.cut_at(b"COMMIT\0", answered=landed, after=b"DELETE FROM sessions")
        response = await ann.ask("DELETE", CURRENT)
        assert (response.status_code, response.json()["meta"]["outcome"]) == (503, "unknown")
        if landed:
            assert (await socket.wait_closed()).code == CLOSED

        async def known() -> bool:
            return (await ann.ask("GET", VERIFY)).status_code == (401 if landed else 200)

        await wait_until(known)


async def test_what_is_over_is_deleted(world: World) -> None:
    ann = await world.player("Ann", ttl_seconds=60)
    await Browser(world).enter_as(ann)
    await ann.do("POST", LINKS, status=201)
    world.advance(15 * MINUTE_MS)
    for name in ("sessions that are over", "sign-in links that are over"):
        await job_named(world, name).run()
    assert await world.service.database.read(_counts) == (0, 0)


async def _counts(conn) -> tuple[int, int]:
    return tuple(
        await conn.fetchrow("SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM sign_in_links)")
    )


async def test_two_renewals_at_once_both_work(world: World) -> None:
    ann = await signed_in(await world.player("Ann"))
    statuses: list[int] = []

    async def renew() -> None:
        statuses.append((await ann.ask("POST", RENEW)).status_code)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(renew)
    assert statuses == [200] * 10
