"""Wire: channels and sessions are there after a restart, and what was not passed on before it is made up for."""

from pathlib import Path

from persistence.connection import Connection
from persistence.friends import blocks
from routes.voice.jobs import end_doomed, look
from routes.voice.parts import ATTENDANCE
from tests.support.waiting import wait_until
from tests.support.world import Player, open_world
from tests.voice.play import VOICE, VoiceNode, join, minding, node, node_server, private


async def test_after_a_restart_sessions_are_there_and_blocked_ones_end(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        one = await node(world, await node_server(world))
        moderator = await world.ranked("Mod", "moderator")
        ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
        kept, parted = await private(ann, ben), await private(cid, dan)
        first = await join(ann, kept)
        await join(cid, parted)
        await moderator.do("PUT", f"{VOICE}/channels/{kept}/control", {"mutedIds": [ann.id]}, status=200)
        # The block is committed, and the process ends before anybody hears of it.
        await world.service.database.transact(_block, dan.id, cid.id)
    async with open_world(database_url, tmp_path) as world:
        attendance = world.service.of(ATTENDANCE)
        again = Player(world, ann.id, "Ann", world.token(ann.id, "Ann"))
        body = {"sessionId": first["session"]["id"], "selfMute": True}
        shown = await again.do("POST", f"{VOICE}/session/sync", body, status=200)
        (mine,) = shown["channel"]["participants"]
        assert (mine["name"], mine["selfMute"], mine["serverMute"]) == ("Ann", True, True)
        assert attendance.seats.taken(one.id) >= 1

        async def ended() -> bool:
            await end_doomed(world.service)
            return attendance.of_user(cid.id) is None

        await wait_until(ended)
        # The orders of before were in memory: those that hold are given again.
        returned = VoiceNode(world, {"nodeId": one.id, "nodeSecret": one.secret})
        returned.cursor = one.cursor
        kinds = {(told["kind"], told["userId"]) for told in await returned.beat()}
        assert {("mute", ann.id), ("remove", cid.id)} == kinds


async def test_a_channel_that_cannot_be_loaded_holds_up_no_other(database_url: str, tmp_path: Path):
    async with open_world(database_url, tmp_path) as world:
        server = await node_server(world)
        await node(world, server)
        ann, ben, cid, dan = await world.players("Ann", "Ben", "Cid", "Dan")
        broken, sound = await private(ann, ben), await private(cid, dan)
        await join(ann, broken)
        await join(cid, sound)
    async with open_world(database_url, tmp_path) as world:
        minder = minding(world)
        attendance = minder.of(ATTENDANCE)
        await minder.database.transact(_break, broken)
        attendance.doom(ann.id, "REMOVED")
        attendance.doom(cid.id, "REMOVED")
        await look(minder)
        assert (attendance.of_user(ann.id) is None, attendance.of_user(cid.id)) == (False, None)
        assert list(attendance.doomed) == [broken], "it is ended once it can be"
        assert attendance.state(broken) is not None


async def _break(conn: Connection, channel_id: str) -> None:
    await conn.execute("UPDATE heads SET summary = '?' WHERE kind = 'voice' AND id = $1", channel_id)
    await conn.execute("DELETE FROM snapshots WHERE kind = 'voice' AND id = $1", channel_id)


async def _block(conn: Connection, user_id: str, target_id: str) -> None:
    await blocks.put(conn, user_id, target_id, reason=None, now_ms=1)
