"""Who writes several publications locks them in the order of their ids."""

from functools import partial

import pytest

from actors.publications.states import STALE_MS
from persistence.connection import Connection
from persistence.publications.moderating import lock_publication
from tests.connect.play import claimed
from tests.publications.play import publish, push
from tests.support.jobs import job_named
from tests.support.locks import crossed
from tests.support.world import World


async def _moved_behind(conn: Connection, id: str) -> None:
    """Have the row of a publication lie behind the others in the table, as PostgreSQL knows from now on."""
    await conn.execute("UPDATE publications SET updated_at_ms = updated_at_ms + 1 WHERE id = $1", id)
    await conn.execute("ANALYZE publications, publication_statuses")


@pytest.mark.parametrize("then", ["publications that are silent", "statuses of game servers"])
async def test_publications_that_go_or_come_back_together(world: World, then: str) -> None:
    ann = await world.player("Ann")
    servers = [await claimed(world, ann, name) for name in "ab"]
    low, high = sorted([(await publish(ann, server))["id"] for server in servers])
    world.advance(STALE_MS + 1)
    if then == "statuses of game servers":
        await job_named(world, "publications that are silent").run()
        for server in servers:
            await push(server)
    database = world.service.database
    await database.transact(_moved_behind, low)
    await crossed(
        database,
        partial(lock_publication, id=low),
        partial(lock_publication, id=high),
        job_named(world, then).run,
    )
