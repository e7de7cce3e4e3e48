"""Wire: names that other processes have given while nobody here listened to PostgreSQL are shown all the same."""

from uuid import UUID

import pytest

from persistence.bridge.database import Database
from persistence.connection import Connection
from persistence.users.names import Renamed, renamed_since
from persistence.users.users import arrive
from tests.party.play import gather
from tests.support.waiting import patience
from tests.support.world import Player, World


async def end_connections(conn: Connection) -> None:
    await conn.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


async def rename_unheard(world: World, player: Player, name: str) -> None:
    """Rename a user as another process does whose announcement does not come."""

    async def rename(conn: Connection) -> None:
        await conn.execute(
            "UPDATE users SET name = $2, name_lower = lower($2), renamed_at_ms = $3 WHERE id = $1",
            player.id,
            name,
            world.clock.now_ms(),
        )

    await world.service.database.transact(rename)


@pytest.mark.parametrize("awake", [False, True], ids=["asleep", "awake"])
async def test_a_missed_name_is_shown_once_this_process_listens_again(world: World, *, awake: bool) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    if awake:
        await ben.say(room)
    await gather(ann, ben)
    async with ann.live("/v1/social/live?channels=") as socket:
        for channel in ("inbox", "party"):
            await socket.send_json({"op": "subscribe", "channel": channel})
            await socket.receive_until(type="snapshot", channel=channel)
        await rename_unheard(world, ben, "Benno")
        await world.service.database.read(end_connections)
        missing = {"inbox", "party"}
        with patience():
            while missing:
                frame = await socket.receive_json()
                if "'Benno'" in str(frame):
                    missing.discard(frame["channel"])


async def test_users_who_were_renamed_since_a_moment(database: Database) -> None:
    ids = [str(UUID(int=number)) for number in range(4)]

    async def rename(conn: Connection, id: str, at_ms: int) -> None:
        for name in ("Ann", f"Ann{at_ms}"):
            await arrive(conn, id, name, issued_at_s=0, now_ms=at_ms)

    for id, at_ms in zip(ids, (5, 7, 7, 9), strict=True):
        await database.transact(rename, id, at_ms)
    await database.transact(lambda conn: arrive(conn, str(UUID(int=9)), "New", issued_at_s=0, now_ms=9))
    assert await database.read(renamed_since, 6, "", 2) == [
        Renamed(ids[1], "Ann7", 7),
        Renamed(ids[2], "Ann7", 7),
    ]
    assert await database.read(renamed_since, 7, ids[1], 9) == [
        Renamed(ids[2], "Ann7", 7),
        Renamed(ids[3], "Ann9", 9),
    ]
