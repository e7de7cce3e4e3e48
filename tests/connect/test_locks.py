"""Who writes several game servers locks them in one order."""

import asyncio
from collections.abc import Sequence
from functools import partial

import pytest
import trio
from msgspec.structs import replace

from actors.connect.events import AnyEvent, ServerChanged, ServerRemoved
from actors.connect.persisting import Changes
from persistence.connect import servers, sessions
from persistence.connect.rows import ServerRow, TicketRow
from persistence.connection import Connection
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import claimed
from tests.service.overdue import YOUNG_MS
from tests.support.jobs import job_named
from tests.support.locks import Step, crossed
from tests.support.waiting import LOOK_SECONDS, patience
from tests.support.world import World


async def two_servers(world: World) -> list[ServerRow]:
    """Of one owner, by id."""
    ann = await world.player("Ann")
    read = partial(world.service.database.read, servers.read)
    return [await read(id) for id in sorted([(await claimed(world, ann, name)).id for name in "ab"])]


def holding(row: ServerRow) -> Step:
    return partial(servers.hold, server_ids=[row.server_id])


async def test_the_last_calls_of_servers_that_are_being_changed(world: World) -> None:
    first, second = await two_servers(world)
    service, at_ms = world.service, world.clock.now_ms() + 1
    credentials = service.of(GAME_SERVERS).credentials
    await credentials.flush()
    # Neither in the table nor in memory are they in the order of their ids.
    await service.database.transact(servers.change, first)
    for row in (second, first):
        credentials.saw(row.server_id, at_ms, "10.0.0.1")
    await crossed(
        service.database, holding(first), holding(second), job_named(world, "calls of game servers").run
    )
    read = partial(service.database.read, servers.read)
    assert [(await read(row.server_id)).last_seen_at_ms for row in (first, second)] == [at_ms, at_ms]


@pytest.mark.parametrize("then", ["changed", "removed"])
async def test_turns_of_several_servers_in_one_batch(world: World, then: str) -> None:
    first, second = await two_servers(world)
    end = ServerChanged(first) if then == "changed" else ServerRemoved(world.clock.now_ms())
    batch = partial(_write, events=[(second, ServerChanged(second)), (first, end)])
    database = world.service.database
    await crossed(database, holding(first), holding(second), partial(database.transact, batch))


async def test_tickets_that_expired_and_are_being_renewed(world: World) -> None:
    ann, bob = await world.player("Ann"), await world.player("Bob")
    server = await claimed(world, ann, "a")
    expired = [TicketRow(server.id, one.id, bytes(32), "x", 0, used=False) for one in (ann, bob)]
    database = world.service.database
    await database.transact(sessions.put_tickets, expired)
    taken = trio.Event()
    here = trio.lowlevel.current_trio_token()
    renewed = replace(expired[1], expires_at_ms=YOUNG_MS)

    async def renew_until_the_other_is_gone(conn: Connection) -> None:
        await sessions.put_tickets(conn, [renewed])
        here.run_sync_soon(taken.set)
        while len(await sessions.tickets_of(conn, server.id)) > 1:  # noqa: ASYNC110
            await asyncio.sleep(LOOK_SECONDS)

    with patience():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(database.transact, renew_until_the_other_is_gone)
            await taken.wait()
            await job_named(world, "join tickets").run()
    assert await database.read(sessions.tickets_of, server.id) == [renewed]


async def _write(conn: Connection, events: Sequence[tuple[ServerRow, AnyEvent]]) -> None:
    changes = Changes(gateway_domain=None)
    for row, event in events:
        changes.take(row.server_id, event)
    await changes.write(conn)
