"""Wire: an erasure is finished once, as the user may have come back by the second time."""

from pathlib import Path

import pytest
import trio

from actors.ids import UserId
from persistence.connection import Connection
from routes.domain import Domain
from routes.domains import DOMAINS
from routes.service import Service
from routes.users import finishing
from routes.users.erasure import sweep_erased
from tests.support.locks import held_up
from tests.support.waiting import patience, wait_until
from tests.support.world import open_world
from tests.users.play import again, one, swept

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted"


@pytest.mark.one_node(because="it counts what one node does")
async def test_of_two_runs_that_have_found_an_erasure_one_finishes_it(
    database_url: str, tmp_path: Path
) -> None:
    """Both are about to read what is to be finished when the table is unlocked."""
    forgotten: list[str] = []

    async def forget(_service: Service, user_id: UserId) -> None:
        forgotten.append(user_id)

    domains = (*DOMAINS, Domain(name="counting", mounts=(), forget_user=forget))
    async with open_world(database_url, tmp_path, domains=domains) as world:
        ann, root = await world.player("Ann"), await world.super_admin()
        database = world.service.database

        async def lock(conn: Connection) -> None:
            await conn.execute("LOCK TABLE erased_users")

        async def sweep_twice() -> None:
            async with trio.open_nursery() as nursery:
                for _ in range(2):
                    nursery.start_soon(sweep_erased, world.service)

        async def both_wait() -> bool:
            return bool(await database.read(lambda conn: conn.fetchval(WAITING)) >= 2)

        await root.do("DELETE", one(ann), status=204)
        await held_up(database, lock, sweep_twice, lambda: wait_until(both_wait))
    assert forgotten == [ann.id]


HELD_BY_ANOTHER = 8_000_000_000_000


@pytest.mark.parametrize("is_taken", [True, False])
async def test_a_run_that_cannot_prolong_its_claim_ends(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_taken: bool
) -> None:
    """Because another has claimed the erasure, or because it does not come to it."""
    monkeypatch.setattr(finishing, *(("PROLONG_SECONDS", 0.0) if is_taken else ("WORK_SECONDS", 0.0)))
    begun, may_end = trio.Event(), trio.Event()

    async def forget(_service: Service, _user_id: UserId) -> None:
        begun.set()
        await may_end.wait()

    async def claim_for(until_ms: int) -> None:
        sql = "UPDATE erased_users SET finishing_until_ms = $1"
        await world.service.database.transact(lambda conn: conn.execute(sql, until_ms))

    domains = (*DOMAINS, Domain(name="holding", mounts=(), forget_user=forget))
    async with open_world(database_url, tmp_path, domains=domains) as world:
        ann, root = await world.player("Ann"), await world.super_admin()
        await root.do("DELETE", one(ann), status=204)
        if is_taken:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(sweep_erased, world.service)
                with patience():
                    await begun.wait()
                await claim_for(HELD_BY_ANOTHER)
        assert not await sweep_erased(world.service)
        assert await again(world, ann).refused("GET", "/v1/auth/verify") == (401, "UNAUTHENTICATED")
        monkeypatch.undo()
        may_end.set()
        await claim_for(0)
        await swept(world)
        await again(world, ann).get("/v1/auth/verify")
