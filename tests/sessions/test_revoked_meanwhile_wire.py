"""Wire: a revocation that a request has waited for ends what the request would have made, whatever it had shown before.

The revocation holds the lock on the user's row until the request waits for it, and is committed then.
"""

from functools import partial
from typing import Any

import pytest

from actors.sessions import units
from actors.users.units_revocation import revoke_tokens
from persistence.connection import Connection
from persistence.users.users import refuse_tokens
from tests.sessions.place import Place
from tests.sessions.play import CURRENT, LINKS, SESSIONS, Browser, link_of
from tests.support.locks import Step, crossed
from tests.support.world import Player, World

LATER_MS = 5_000
"""So that no token of this test is issued in the second from which on they are valid again."""


async def nothing_more(_conn: Connection) -> None:
    """What a revocation does after its only lock."""


def revoking(world: World, user_id: str) -> Step:
    return partial(revoke_tokens, user_id=user_id, now_ms=world.clock.now_ms() + LATER_MS)


async def asked_meanwhile(first: Step, asking: Player, path: str, body: object = None) -> tuple[int, str]:
    """(status, code) of a request that is sent, and let in, before `first` is committed, and waits for it."""
    said: list[Any] = []

    async def ask() -> None:
        said.append(await asking.ask("POST", path, body))

    await crossed(asking.world.service.database, first, nothing_more, ask)
    (response,) = said
    assert response.headers.get("www-authenticate") == ("Bearer" if response.status_code == 401 else None)
    assert not response.headers.get_list("set-cookie")
    return response.status_code, response.json()["code"]


async def left(world: World) -> tuple[int, int]:
    """How many sessions and links there are."""

    async def count(conn: Connection) -> tuple[int, int]:
        rows = await conn.fetchrow(
            "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM sign_in_links)"
        )
        return tuple(rows)

    return await world.service.database.read(count)


@pytest.mark.parametrize("path", [SESSIONS, LINKS])
async def test_a_token_that_is_revoked_meanwhile_makes_nothing(world: World, path: str) -> None:
    ann, browser = await world.player("Ann"), Browser(world)
    browser.headers = dict(ann.headers)
    assert await asked_meanwhile(revoking(world, ann.id), browser, path) == (401, "UNAUTHENTICATED")
    assert await left(world) == (0, 0)


@pytest.mark.parametrize("path", [SESSIONS, LINKS])
async def test_a_revocation_that_came_before_the_token_ends_nothing(world: World, path: str) -> None:
    """Whose `iat` is the very second from which on tokens are valid: the rule is that of the gate."""
    ann, browser = await world.player("Ann"), Browser(world)
    browser.headers = dict(ann.headers)
    issued_at_s = (await world.service.authenticator.user(ann.token or "")).issued_at_s
    just_before = partial(refuse_tokens, user_id=ann.id, not_before_s=issued_at_s)

    statuses: list[int] = []

    async def ask() -> None:
        statuses.append((await browser.ask("POST", path)).status_code)

    await crossed(world.service.database, just_before, nothing_more, ask)
    assert statuses == [201]


async def test_a_super_admin_whose_token_is_revoked_meanwhile_lets_nobody_in(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    said = await asked_meanwhile(revoking(world, root.id), root, LINKS, {"userId": ann.id})
    assert said == (401, "UNAUTHENTICATED")
    assert await left(world) == (0, 0)


@pytest.mark.parametrize("whom", ["themself", "another"])
async def test_a_session_that_ends_meanwhile_makes_no_link(world: World, whom: str) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    browser = Browser(world)
    await browser.enter(code=await link_of(root))
    (shown,) = (await browser.get(SESSIONS))["items"]
    body = None if whom == "themself" else {"userId": ann.id}
    ending = partial(units.end, user_id=root.id, session_id=shown["id"])
    assert await asked_meanwhile(ending, browser, LINKS, body) == (401, "UNAUTHENTICATED")
    assert await left(world) == (0, 0)


async def test_a_sign_in_at_an_issuer_before_a_revocation_begins_no_session_after_it(place: Place) -> None:
    world = place.world
    first = await place.user("4711", name="Ada")
    await first.do("DELETE", CURRENT, status=204)
    led: list[str] = []

    async def enter() -> None:
        led.append(await place.enters(Browser(world), "4711"))

    await crossed(world.service.database, revoking(world, first.id), nothing_more, enter)
    assert led == ["/app/sign-in#error=expired"]
    assert await left(world) == (0, 0)
