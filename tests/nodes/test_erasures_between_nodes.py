"""An erasure that a node is finishing while another one runs the job: whoever comes back keeps what they begin then."""

from pathlib import Path

import pytest
import trio

from actors.ids import UserId
from routes.domain import Domain
from routes.domains import DOMAINS
from routes.service import Service
from routes.users.erasure import sweep_erased
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer
from tests.support.waiting import patience, wait_until
from tests.users.play import again, one

VERIFY = "/v1/auth/verify"


@pytest.mark.slow
async def test_nobody_comes_back_while_the_node_that_had_the_job_goes_on(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    """Whichever node comes first is held in the middle, and the other runs the job then."""
    runs: list[Service] = []
    begun, go_on = trio.Event(), trio.Event()

    async def forget(service: Service, _user_id: UserId) -> None:
        runs.append(service)
        begun.set()
        if len(runs) == 1:
            await go_on.wait()

    domains = (*DOMAINS, Domain(name="holding", mounts=(), forget_user=forget))
    async with open_cluster(database_url, tmp_path, nats, "a", "b", domains=domains) as cluster:
        here = cluster.worlds["a"]
        root = await here.super_admin()
        ann, ben = await here.players("Ann", "Ben")
        await ann.talk_to(ben)
        await root.do("DELETE", one(ann), status=204)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(sweep_erased, here.service)
            with patience():
                await begun.wait()
            there = next(world for world in cluster.worlds.values() if world.service is not runs[0])
            assert not await sweep_erased(there.service)
            back = again(there, ann)
            assert await back.refused("GET", VERIFY) == (401, "UNAUTHENTICATED")
            go_on.set()

        async def is_back() -> bool:
            return (await back.ask("GET", VERIFY)).status_code == 200

        await wait_until(is_back)
        room = await back.talk_to(ben)
        for world in cluster.worlds.values():
            assert await sweep_erased(world.service)
        assert (await back.get(room.path))["participantCount"] == 2
        assert len(runs) == 1
