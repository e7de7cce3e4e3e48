"""What another process changes between users counts here, whether it was heard of or missed."""

from functools import partial

from actors.friends.announcing import heard
from actors.friends.between import seen_between
from actors.friends.units_links import Choice, choose
from persistence.connection import Connection
from persistence.friends import blocks
from routes.friends.parts import FRIENDS_LIVE
from tests.friends.play import make_friends
from tests.support.waiting import wait_until
from tests.support.world import World


async def test_who_hides_in_another_process_is_hidden_here(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    live, database = world.service.of(FRIENDS_LIVE), world.service.database
    unit = partial(choose, now_ms=world.clock.now_ms())

    async def hidden() -> bool:
        return live.hides(ann.id, ben.id)

    async def shown() -> bool:
        return not live.hides(ann.id, ben.id)

    # A unit without its reactions is what another process leaves behind.
    await database.transact(unit, ann.id, ben.id, Choice(visibility="HIDDEN"))
    await wait_until(hidden)
    await database.transact(unit, ann.id, ben.id, Choice(visibility="DEFAULT"))
    await wait_until(shown)


async def test_who_blocks_in_another_process_is_parted_here(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    live, now_ms = world.service.of(FRIENDS_LIVE), world.clock.now_ms()

    async def block(conn: Connection) -> None:
        await blocks.put(conn, ann.id, ben.id, reason=None, now_ms=now_ms)
        await seen_between(conn, ann.id, ben.id)

    await world.service.database.transact(block)

    async def parted() -> bool:
        return live.parted(ann.id, ben.id)

    await wait_until(parted)


async def test_what_was_missed_is_read(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    live, now_ms = world.service.of(FRIENDS_LIVE), world.clock.now_ms()
    await world.block(ann, cid)

    async def unheard(conn: Connection) -> None:
        await blocks.put(conn, ann.id, ben.id, reason=None, now_ms=now_ms)
        await blocks.remove(conn, ann.id, cid.id)

    async def end_connections(conn: Connection) -> None:
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )

    await world.service.database.transact(unheard)
    await world.service.database.read(end_connections)

    async def as_stored() -> bool:
        return live.parted(ann.id, ben.id) and not live.parted(ann.id, cid.id)

    await wait_until(as_stored)


def test_what_another_release_announces_is_read_from_rows() -> None:
    assert heard('7 {"type": "Unheard"}') is None
