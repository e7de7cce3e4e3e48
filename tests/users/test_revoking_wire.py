"""Wire: tokens that are revoked open nothing from then on, and what is issued afterwards works at once."""

from pathlib import Path

import pytest

from actors.users.units_erasure import erase
from actors.users.units_revocation import revoke_tokens
from persistence.users.audit import Stamp
from routes.users.parts import USER_DIRECTORY
from tests.support.losing import lose, proxy, settled
from tests.support.losing import world as fragile
from tests.support.one_world import in_one_world
from tests.support.proxy import Proxy
from tests.support.shifted_clock import ShiftedClock
from tests.support.world import Player, World, open_world, world

pytestmark = pytest.mark.both_edges

__all__ = ["fragile", "proxy", "world"]

REVOKE = "/v1/auth/revoke"
VERIFY = "/v1/auth/verify"
CLOSED = 4401


def revoke_of(player: Player) -> str:
    return f"/v1/admin/users/{player.id}/revoke-tokens"


async def works(player: Player) -> bool:
    response = await player.ask("GET", VERIFY)
    assert response.status_code in {200, 401}
    return response.status_code == 200


async def issued_now(player: Player) -> Player:
    """The same user with a token that was issued at this moment, as the command line does it."""
    user = await player.world.service.of(USER_DIRECTORY).user_of(player.id)
    minted = player.world.service.keys.mint_user_token(
        player.id,
        player.name,
        now_ms=player.world.clock.now_ms(),
        ttl_seconds=3600,
        random_bytes=player.world.service.random_bytes,
        not_before_s=user.tokens_not_before_s,
    )
    return Player(player.world, player.id, player.name, minted.token)


async def test_a_revoked_token_opens_nothing(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    twin = Player(world, ann.id, ann.name, world.token(ann.id, ann.name, ttl_seconds=7200))
    assert await works(twin)
    await ann.do("POST", REVOKE, status=204)
    assert [await works(one) for one in (ann, twin, ben)] == [False, False, True]


async def test_a_token_of_the_same_second_is_revoked_and_one_issued_after_it_works(world: World) -> None:
    """A token tells its second only; five times, so that no boundary of seconds hides anything."""
    ann = await world.player("Ann")
    for _ in range(5):
        await ann.do("POST", REVOKE, status=204)
        assert not await works(ann)
        ann = await issued_now(ann)
        assert await works(ann)


async def test_sockets_of_a_revoked_token_close(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ann.live() as mine, ann.live("/v1/social/friends/live") as single, ben.live() as other:
        for socket in (mine, single, other):
            await socket.receive_json()
        await ann.do("POST", REVOKE, status=204)
        assert [(await socket.wait_closed()).code for socket in (mine, single)] == [CLOSED, CLOSED]
        fresh = await issued_now(ann)
        async with fresh.live() as again:
            assert (await again.receive_json())["type"] == "hello"
        await other.send_json({"id": 1, "op": "ping"})
        await other.receive_until(type="pong")


@in_one_world("erased", [False, True])
async def test_sockets_close_where_only_the_database_tells_of_it(world: World, erased: bool) -> None:
    """As on a node that sees the rows of another one, which has died when they were committed."""
    ann, root = await world.player("Ann"), await world.super_admin()
    database, now_ms = world.service.database, world.clock.now_ms()
    async with ann.live() as mine, ann.live("/v1/social/friends/live") as single, root.live() as other:
        for socket in (mine, single, other):
            await socket.receive_json()
        if erased:
            await database.transact(erase, ann.id, Stamp("0" * 24, now_ms, root.id, None))
        else:
            await database.transact(revoke_tokens, ann.id, now_ms)
        assert [(await socket.wait_closed()).code for socket in (mine, single)] == [CLOSED, CLOSED]
        await other.send_json({"id": 1, "op": "ping"})
        await other.receive_until(type="pong")
    if not erased:
        async with (await issued_now(ann)).live() as again:
            assert (await again.receive_json())["type"] == "hello"


async def test_an_admin_revokes_and_it_is_on_record(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    assert (await ann.refused("POST", revoke_of(root)))[0] == 403
    await root.do("POST", revoke_of(ann), status=204)
    assert not await works(ann)
    assert await works(root)
    (entry, *_) = (await root.get("/v1/admin/audit"))["items"]
    assert (entry["action"], entry["targetId"], entry["actorId"]) == ("tokens.revoked", ann.id, root.id)
    nobody = Player(world, "00000000-0000-4000-8000-000000000000", "", None)
    assert await root.refused("POST", revoke_of(nobody)) == (404, "NOT_FOUND")


async def test_a_repeated_request_revokes_once(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    key = {"idempotency-key": "once"}
    assert (await root.ask("POST", revoke_of(ann), headers=key)).status_code == 204
    ann = await issued_now(ann)
    again = await root.ask("POST", revoke_of(ann), headers=key)
    assert (again.status_code, again.headers["idempotent-replayed"]) == (204, "true")
    assert await works(ann)


async def test_revoking_again_and_again_never_dates_a_token_beyond_belief(world: World) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    statuses = [(await root.ask("POST", revoke_of(ann))).status_code for _ in range(40)]
    assert statuses[:25] == [204] * 25
    assert 409 in statuses
    assert await works(await issued_now(ann))


async def test_revocation_outlives_a_restart(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        await ann.do("POST", REVOKE, status=204)
    async with open_world(database_url, tmp_path) as world:
        ann.world = world
        assert not await works(ann)


@pytest.mark.one_node(because="no node that is so far from the database's time joins others")
async def test_whose_tokens_were_revoked_by_a_clock_that_was_ahead_is_let_in_by_an_admin(
    database_url: str, tmp_path: Path
) -> None:
    """Until then no token works, new ones included, as if all were issued before the revocation."""
    ahead_ms, clock = 3 * 3_600_000, ShiftedClock()
    clock.advance(ahead_ms)
    async with open_world(database_url, tmp_path, clock=clock) as world:
        ann = await world.player("Ann")
        await ann.do("POST", REVOKE, status=204)
    clock.advance(-ahead_ms)
    async with open_world(database_url, tmp_path, clock=clock) as world:
        ann.world = world
        early = Player(world, ann.id, ann.name, world.token(ann.id, ann.name, ttl_seconds=7200))
        assert not await works(early)
        await (await world.super_admin()).do("POST", revoke_of(ann), status=204)
        assert [await works(one) for one in (ann, early)] == [False, False]
        assert await works(await issued_now(ann))


@pytest.mark.parametrize("landed", [True, False])
async def test_a_revocation_of_unknown_outcome_is_followed(
    fragile: World, proxy: Proxy, *, landed: bool
) -> None:
    ann = await fragile.player("Ann")
    async with ann.live() as socket:
        await socket.receive_json()
        await lose(proxy, ann, "POST", REVOKE, landed=landed, said=b"tokens_not_before_s = $2")
        await settled(fragile)
        assert await works(ann) is not landed
        if landed:
            assert (await socket.wait_closed()).code == CLOSED
