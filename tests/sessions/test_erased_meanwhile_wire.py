"""Wire: what a browser is told whose user is erased while it asks."""

from functools import partial

import pytest

from actors.users.units_erasure import erase
from persistence.connection import Connection
from persistence.users.audit import Stamp
from routes.users.parts import USER_DIRECTORY
from tests.sessions.play import CURRENT, HOUR_MS, RENEW, SESSIONS, Browser, link_of, signed_in
from tests.support.locks import during, held_up
from tests.support.world import Player, World


async def erasure(conn: Connection, user: Player) -> None:
    await erase(conn, user.id, Stamp("0" * 24, user.world.clock.now_ms(), None, None))


async def asked(browser: Browser, method: str, path: str) -> int:
    """The status of a request that waits for the end of the erasure; the cookie is gone then."""
    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await browser.ask(method, path)).status_code)

    first = partial(erasure, user=Player(browser.world, browser.id, browser.name, None))
    await during(browser.world.service.database, first, ask)
    assert browser.cookies == {}
    return statuses[0]


async def test_signing_out_succeeds_for_who_was_erased_meanwhile(world: World) -> None:
    browser = await signed_in(await world.player("Ann"))
    assert await asked(browser, "DELETE", CURRENT) == 204


async def test_renewing_a_session_that_is_over(world: World) -> None:
    browser = Browser(world)
    await browser.enter(code=await link_of(await world.player("Ann", ttl_seconds=60)))
    world.advance(HOUR_MS)
    browser.forget()
    assert await asked(browser, "POST", RENEW) == 401


@pytest.mark.one_node(because="it is one node's memory that has just heard of it")
async def test_looking_at_ones_sessions(world: World) -> None:
    ann = await world.player("Ann")

    async def erasing(conn: Connection) -> None:
        await erasure(conn, ann)
        await conn.execute("LOCK TABLE sessions IN ACCESS EXCLUSIVE MODE")

    async def ask() -> None:
        assert await ann.refused("GET", SESSIONS) == (401, "UNAUTHENTICATED")

    async def tell() -> None:
        world.service.of(USER_DIRECTORY).changed(ann.id)

    await held_up(world.service.database, erasing, ask, tell)
