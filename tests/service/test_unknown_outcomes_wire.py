"""Wire: the answer to a COMMIT is lost. Whatever memory of each domain holds beside the rows is right a moment later,
whether the change was made or not; nobody repeats the request.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
import trio

from persistence.connection import Connection
from routes.users.parts import USER_DIRECTORY
from tests.capes.stage import ADMIN, cape_in, moderator
from tests.news.play import follow, network, write
from tests.notifications.play import READ, notify, opened
from tests.support.jobs import job_named
from tests.support.losing import lose, proxy, settled, world
from tests.support.proxy import Proxy
from tests.support.turns import GATE, open_gate
from tests.support.world import CONVERSATIONS, Player, World

__all__ = ["proxy", "world"]


@dataclass(frozen=True)
class Lost:
    """A request whose outcome is to be unknown.

    Args:
        caller, method, path, body: the request.
        said: what its transaction sends before COMMIT.
        shows: whether memory shows the change.
    """

    caller: Player
    method: str
    path: str
    body: object
    said: bytes
    shows: Callable[[], Awaitable[bool]]


async def settings(world: World) -> Lost:
    ann = await world.player("Ann")

    async def shows() -> bool:
        return not (await world.service.of(USER_DIRECTORY).user_of(ann.id)).allow_friend_requests

    return Lost(
        ann, "PATCH", "/v1/profile/settings", {"allowFriendRequests": False}, b"UPDATE users SET allow", shows
    )


async def a_grant(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def shows() -> bool:
        return (await world.service.of(USER_DIRECTORY).access_of(ann.id)).allows("shop:manage")

    path = f"/v1/admin/users/{ann.id}/permissions"
    return Lost(root, "POST", path, {"node": "shop:manage"}, b"INSERT INTO user_grants", shows)


async def a_grant_taken_away(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")
    await root.do("POST", f"/v1/admin/users/{ann.id}/permissions", {"node": "shop:manage"})

    async def shows() -> bool:
        return not (await world.service.of(USER_DIRECTORY).access_of(ann.id)).allows("shop:manage")

    path = f"/v1/admin/users/{ann.id}/permissions/shop:manage"
    return Lost(root, "DELETE", path, None, b"DELETE FROM user_grants", shows)


async def an_extension(world: World) -> Lost:
    ann = await world.player("Ann")
    body = {"extensionId": "shop", "name": "Shop", "description": "", "visibility": "public"}

    async def shows() -> bool:
        return (
            "svc.connect.extensions.shop" in (await world.service.of(USER_DIRECTORY).access_of(ann.id)).held
        )

    return Lost(ann, "POST", "/v1/connect/extensions", body, b"INSERT INTO connect_extensions", shows)


async def an_erasure(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def shows() -> bool:
        return (await ann.ask("GET", "/v1/auth/verify")).status_code == 401

    return Lost(root, "DELETE", f"/v1/admin/users/{ann.id}", None, b"INSERT INTO erased_users", shows)


CASES = (settings, a_grant, a_grant_taken_away, an_extension, an_erasure)


@pytest.mark.parametrize("landed", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
async def test_memory_is_not_stale_after_a_commit_of_unknown_outcome(
    world: World, proxy: Proxy, case: Callable[[World], Awaitable[Lost]], *, landed: bool
) -> None:
    lost = await case(world)
    assert not await lost.shows()
    await lose(proxy, lost.caller, lost.method, lost.path, lost.body, landed=landed, said=lost.said)
    await settled(world)
    assert await lost.shows() is landed


async def test_notifications_that_were_read_show_live(world: World, proxy: Proxy) -> None:
    ann = await world.player("Ann")
    await notify(world, ann, 1)
    async with ann.live("/v1/social/live?channels=") as client:
        await opened(client, mode="snapshot")
        assert (await client.receive_until(type="snapshot"))["data"]["unread"] == 1
        await lose(
            proxy,
            ann,
            "POST",
            READ,
            {"beforeMs": 2**53 - 1},
            landed=True,
            said=b"UPDATE notifications SET read",
        )
        assert (await client.receive_until(type="snapshot"))["data"]["unread"] == 0


@pytest.mark.parametrize("removed", [True, False])
async def test_a_verdict_on_a_cape_shows_live(world: World, proxy: Proxy, *, removed: bool) -> None:
    ann, mod = await world.player("Ann"), await moderator(world)
    cape: Any = await cape_in("pending", ann, mod)
    method, body = ("DELETE", None) if removed else ("PATCH", {"status": "approved"})
    async with ann.live("/v1/social/live?channels=") as client:
        await opened(client, mode="snapshot")
        assert (await client.receive_until(type="snapshot"))["data"]["items"] == []
        said = b"INSERT INTO notifications"
        await lose(proxy, mod, method, f"{ADMIN}/{cape['id']}", body, landed=True, said=said)
        (told,) = (await client.receive_until(type="snapshot"))["data"]["items"]
        assert told["kind"] == "cape_moderated"


async def test_a_conversation_that_was_made_shows_live(world: World, proxy: Proxy) -> None:
    ann, ben = await world.players("Ann", "Ben")
    async with ben.live("/v1/social/chat/live") as socket:
        assert (await socket.receive_json())["conversations"] == []
        body = {"kind": "direct", "participantIds": [ben.id]}
        await lose(proxy, ann, "POST", CONVERSATIONS, body, landed=True, said=b"INSERT INTO conversations")
        assert len((await socket.receive_json())["conversations"]) == 1


async def test_sockets_of_who_was_erased_close(world: World, proxy: Proxy) -> None:
    root, ann = await world.super_admin(), await world.player("Ann")
    async with ann.live() as socket:
        said = b"INSERT INTO erased_users"
        await lose(proxy, root, "DELETE", f"/v1/admin/users/{ann.id}", landed=True, said=said)
        assert (await socket.wait_closed()).code == 4401


async def test_what_was_erased_is_gone_though_its_user_comes_back_before_rows_are_asked(
    world: World, proxy: Proxy, database_url: str
) -> None:
    root, ann, ben = await world.super_admin(), *(await world.players("Ann", "Ben"))
    scope = await network(ann)
    await follow(ben, scope)
    await write(ann, "of the network", scope=scope)
    async with (
        ben.live("/v1/social/live?channels=") as socket,
        open_gate(database_url) as gate,
        trio.open_nursery() as nursery,
    ):
        await socket.send_json(
            {"id": "s", "op": "subscribe", "channel": "news", "params": {"mode": "snapshot"}}
        )
        assert len((await socket.receive_until(type="snapshot"))["data"]["items"]) == 1
        await gate.close()
        nursery.start_soon(world.service.database.transact, _wait_at_gate)
        await gate.wait_for_arrival()
        said = b"INSERT INTO erased_users"
        await lose(proxy, root, "DELETE", f"/v1/admin/users/{ann.id}", landed=True, said=said)
        await job_named(world, "erased users").run()
        world.clock.advance(2_000)
        back = Player(world, ann.id, "Ann", world.token(ann.id, "Ann"))
        await back.get("/v1/auth/verify")
        await gate.open()
        assert (await socket.receive_until(type="snapshot"))["data"]["items"] == []


async def test_what_may_still_be_committed_is_not_asked_too_early(world: World, database_url: str) -> None:
    """The database goes on with a transaction for which we no longer wait; memory is settled once it is over."""
    reconciler, asked = world.service.reconciler, list[object]()

    async def ask(about: object, _events: object) -> None:
        asked.append(about)

    async with open_gate(database_url) as gate, trio.open_nursery() as nursery:
        await gate.close()
        nursery.start_soon(world.service.database.transact, _wait_at_gate)
        await gate.wait_for_arrival()
        reconciler.add("late")
        await reconciler.reconcile(ask)
        assert (asked, len(reconciler)) == ([], 1)
        await gate.open()
    await settled(world)


async def _wait_at_gate(conn: Connection) -> None:
    await conn.execute("SELECT pg_advisory_xact_lock($1)", GATE)
