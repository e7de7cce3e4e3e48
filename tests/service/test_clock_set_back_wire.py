"""Wire: a service that ran while its machine's clock was ahead starts again once that was set right.

What it wrote until then is of the future, by hours where a machine took local time for UTC, or by decades.
"""

from pathlib import Path

import pytest

from tests.connect.play import claimed
from tests.gateways.play import GATEWAYS, TOKEN, gateway
from tests.publications.play import flush, publish, push, shown
from tests.support.jobs import job_named
from tests.support.shifted_clock import ShiftedClock
from tests.support.world import Player, World, open_world

AHEAD_MS = 3 * 3_600_000

pytestmark = pytest.mark.one_node(because="no node that is so far from the database's time joins others")


async def test_who_comes_now_was_seen_now(database_url: str, tmp_path: Path) -> None:
    async def seen_ms(world: World) -> list[int]:
        """When the user and the server were seen, as is written."""
        for name in ("last seen", "calls of game servers"):
            await job_named(world, name).run()
        found = []
        for table, key, id in (("users", "id", ann.id), ("connect_servers", "server_id", server.id)):
            query = f"SELECT last_seen_at_ms FROM {table} WHERE {key} = $1"
            found.append(await world.service.database.read(lambda conn: conn.fetchval(query, id)))  # noqa: B023
        return found

    clock = ShiftedClock()
    clock.advance(AHEAD_MS)
    async with open_world(database_url, tmp_path, clock=clock) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        await server.get(f"{server.path}/commands")
        assert min(await seen_ms(world)) > clock.now_ms() - 60_000
    clock.advance(-AHEAD_MS)
    async with open_world(database_url, tmp_path, clock=clock) as world:
        ann, server = Player(world, ann.id, ann.name, world.token(ann.id, ann.name)), server.at(world)
        await ann.get("/v1/auth/verify")
        await server.get(f"{server.path}/commands")
        assert max(await seen_ms(world)) <= clock.now_ms()


async def test_new_statuses_of_servers_count_and_silent_gateways_are_offline(
    database_url: str, tmp_path: Path
) -> None:
    clock = ShiftedClock()
    clock.advance(AHEAD_MS)
    async with open_world(database_url, tmp_path, clock=clock, gateway_token=TOKEN) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        await publish(ann, server)
        await push(server, players=3)
        await flush(world)
        silent = await gateway(world)
        await silent.beat()
        await job_named(world, "heartbeats of gateways").run()

    clock.advance(-AHEAD_MS)
    async with open_world(database_url, tmp_path, clock=clock, gateway_token=TOKEN) as world:
        root, server = await world.super_admin(), server.at(world)
        ann = Player(world, ann.id, ann.name, world.token(ann.id, ann.name))
        await push(server, players=7)
        await flush(world)
        assert (await shown(ann, server))["playerCount"] == 7
        clock.advance(91_000)
        await flush(world)
        assert not (await shown(ann, server))["online"]
        await job_named(world, "silent gateways").run()
        assert [one["status"] for one in (await root.get(GATEWAYS))["items"]] == ["offline"]
