"""What another process changes between users counts here, whether it was heard of or missed."""

from functools import partial

import trio

from actors.friends.announcing import heard
from actors.friends.between import seen_between
from actors.friends.units_links import Choice, choose
from actors.friends.visibility import Stored, Visibilities
from persistence.connection import Connection
from persistence.friends import blocks, links
from routes.friends.parts import FRIENDS_LIVE
from routes.users.parts import USER_DIRECTORY
from tests.friends import rows
from tests.friends.play import make_friends
from tests.support.waiting import PATIENCE_SECONDS, wait_until
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


async def end_connections(conn: Connection) -> None:
    await conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


async def test_what_was_missed_is_read(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    live, now_ms = world.service.of(FRIENDS_LIVE), world.clock.now_ms()
    await world.block(ann, cid)

    async def unheard(conn: Connection) -> None:
        await blocks.put(conn, ann.id, ben.id, reason=None, now_ms=now_ms)
        await blocks.remove(conn, ann.id, cid.id)

    await world.service.database.transact(unheard)
    await world.service.database.read(end_connections)

    async def as_stored() -> bool:
        return live.parted(ann.id, ben.id) and not live.parted(ann.id, cid.id)

    await wait_until(as_stored)


async def test_friends_who_came_and_went_unheard_are_told_to_open_sockets(world: World) -> None:
    ann, ben, cid, dan, eva = await world.players("Ann", "Ben", "Cid", "Dan", "Eva")
    for friend in (ben, cid):
        await make_friends(ann, friend)
    now_ms = world.clock.now_ms()
    circles = world.service.of(FRIENDS_LIVE).circles
    for one in (ann, ben):
        await circles.learn(one.id)

    async def unheard(conn: Connection) -> None:
        await links.remove(conn, ann.id, ben.id)
        await rows.befriend(conn, ann.id, dan.id, now_ms)
        await rows.choose(conn, ann.id, cid.id, "DEFAULT", True, now_ms)
        await rows.request(conn, "a" * 24, eva.id, ann.id, now_ms, now_ms + 100_000)

    async with ann.live("/v1/social/live?channels=") as socket:
        await socket.send_json({"op": "subscribe", "channel": "friends", "params": {"mode": "delta"}})
        await socket.receive_until(type="snapshot")
        await world.service.database.transact(unheard)
        await world.service.database.read(end_connections)
        told: set[tuple[str, str]] = set()
        while len(told) < 4:
            frame = await socket.receive_json()
            assert frame["type"] == "event", frame  # the list itself is not sent again
            if frame["event"] != "presence":
                told.add((frame["event"], frame["data"].get("friendId") or frame["data"]["id"]))
    assert told == {
        ("friend_removed", ben.id),
        ("friend_added", cid.id),
        ("friend_added", dan.id),
        ("request_added", "a" * 24),
    }
    everybody = [ann.id, ben.id, cid.id, dan.id]
    assert circles.among(ann.id, everybody) == {cid.id, dan.id}
    assert circles.among(ben.id, everybody) == set()


async def test_a_name_that_was_missed_is_told_to_open_sockets(world: World) -> None:
    """Another process renames Ben, who is in no cache here, and PostgreSQL's word of it does not arrive."""
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    world.service.of(USER_DIRECTORY)._entries.clear()

    async def unheard(conn: Connection) -> None:
        await conn.execute("UPDATE users SET name = 'Benno', name_lower = 'benno' WHERE id = $1", ben.id)

    async with ann.live("/v1/social/live?channels=") as socket:
        await socket.send_json({"op": "subscribe", "channel": "friends", "params": {"mode": "delta"}})
        await socket.receive_until(type="snapshot")
        await world.service.database.transact(unheard)
        await world.service.database.read(end_connections)
        with trio.fail_after(PATIENCE_SECONDS):
            while (await socket.receive_until(type="event"))["data"]["player"]["name"] != "Benno":
                pass


def test_what_is_told_while_rows_are_read_is_newer_than_they() -> None:
    known = Visibilities()
    known.fill(Stored([("ben", "ann", "HIDDEN"), ("cid", "ann", "HIDDEN")], [("ann", "dan")]))
    with known.reading() as told:
        known.change("ben", "ann", "DEFAULT")
        known.part("eva", "ann", parted=True)
    assert known.fill(Stored([("ben", "ann", "HIDDEN")], []), told) == {
        *(("cid", "ann"), ("ann", "dan"), ("dan", "ann")),
    }
    assert known.parted("ann", "eva")
    assert [known.of(name, "ann") for name in ("ben", "cid", "dan")] == ["DEFAULT"] * 3


def test_what_another_release_announces_is_read_from_rows() -> None:
    assert heard('7 {"type": "Unheard"}') == heard("") == "unknown"
    assert heard("7 ") == "erased"
