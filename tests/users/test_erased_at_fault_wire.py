"""Wire: a user is erased although owners that have them cannot be loaded, and their name goes from all others."""

from pathlib import Path

import pytest

from actors.kernel.restart_policy import FIRST_PARK_MS, FIRST_PAUSE_MS, INTENSITY
from actors.kernel.supervisor import Fault
from persistence.connection import Connection
from persistence.users.erasure import unswept
from routes.connect.parts import GAME_SERVERS
from tests.connect.play import SERVERS, GameServer, break_server, claimed
from tests.friends.play import ask
from tests.party.play import PARTY, gather
from tests.support.websocket import Client
from tests.support.world import Player, World, open_world
from tests.users.play import again, one, swept
from tests.voice.play import VOICE, join, node, node_server, private


async def break_head(world: World, kind: str, id: str, summary: bytes = b"") -> bytes:
    """Have an owner's head say what cannot be read, or what it said before; returns what it said."""

    async def change(conn: Connection) -> bytes:
        found: bytes = await conn.fetchval("SELECT summary FROM heads WHERE kind = $1 AND id = $2", kind, id)
        await conn.execute("DELETE FROM snapshots WHERE kind = $1 AND id = $2", kind, id)
        await conn.execute("UPDATE heads SET summary = $3 WHERE kind = $1 AND id = $2", kind, id, summary)
        return found

    return await world.service.database.transact(change)


async def test_what_cannot_be_loaded_holds_nobody(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann, ben = await world.players("Ann", "Ben")
        broken = [await claimed(world, owner) for owner in (ann, ben, ben)]
        sound = [await claimed(world, owner) for owner in (ann, ben, ben)]
        for servers in (broken, sound):
            await ben.do("PUT", f"{servers[1].path}/members/{ann.id}", {"role": "admin"})
            await servers[2].seat(ann)
        alone = (await ann.do("POST", PARTY, status=200))["party"]["id"]
    async with open_world(database_url, tmp_path) as world:
        for server in broken:
            await break_server(world, server.id)
        await break_head(world, "party", alone)
        assert await _acts(broken[2].at(world), ann)
        assert await _acts(broken[0].at(world), ann) is False
        root = await world.super_admin()
        await root.do("DELETE", one(ann), status=204)
        await swept(world)
        back = again(world, ann)
        await back.do("GET", "/v1/profile/settings", status=200)
        own, helped, played = (one.at(world) for one in sound)
        # Memory has let them go as well, although nothing was told of what is at fault.
        assert [await _acts(one.at(world), ann) for one in (broken[2], played)] == [False, False]
        row = world.service.of(GAME_SERVERS).credentials.peek(broken[0].id)
        assert row is None or row.owner_id is None
        assert (await back.get(PARTY))["party"] is None
        assert (await back.do("POST", PARTY, status=200))["party"]["id"] != alone
        assert (await own.ask("GET", f"{own.path}/claim-key")).status_code == 401
        assert await back.refused("GET", f"{helped.path}/settings") == (404, "NOT_FOUND")
        assert (await back.get("/v1/connect/sessions"))["items"] == []
        assert (await back.get(SERVERS))["items"] == []


async def test_what_is_asked_for_twice_holds_nobody(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
        await server.seat(ann)  # whose end is asked for as well
    async with open_world(database_url, tmp_path) as world:
        await break_server(world, server.id)
        root = await world.super_admin()
        await root.do("DELETE", one(ann), status=204)


@pytest.mark.one_node(because="the clock of one node is stopped")
async def test_what_is_parked_holds_nobody(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        server = await claimed(world, ann)
    async with open_world(database_url, tmp_path) as world:
        await break_server(world, server.id)
        root = await world.super_admin()
        agent = server.at(world)
        world.clock.stop()
        for status in (*[500] * INTENSITY, 503):
            world.clock.advance(FIRST_PAUSE_MS << INTENSITY - 2)  # the longest pause before it is parked
            assert (await agent.ask("GET", f"{agent.path}/commands")).status_code == status
        await root.do("DELETE", one(ann), status=204)


async def test_nobody_is_in_voice_where_a_channel_cannot_be_loaded(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        await node(world, await node_server(world))
        ann, ben = await world.players("Ann", "Ben")
        channel_id = await private(ann, ben)
        for player in (ann, ben):
            await join(player, channel_id)
    async with open_world(database_url, tmp_path) as world:
        await break_head(world, "voice", channel_id)
        ben = Player(world, ben.id, ben.name, ben.token)
        async with ben.live(f"{VOICE}/live") as voice:
            assert await _heard_in(voice) == [ann.id, ben.id]
            root = await world.super_admin()
            await root.do("DELETE", one(ann), status=204)
            assert await _heard_in(voice) == [ben.id]
        await swept(world)
        # Who comes back has nothing of theirs: neither the session nor its tokens.
        async with again(world, ann).live(f"{VOICE}/live") as voice:
            assert (await voice.receive_json())["session"] is None


async def _heard_in(voice: Client) -> list[str]:
    """Who is in the channel that a socket is shown next, in the order of their coming."""
    shown = await voice.receive_json()
    return [one["userId"] for one in shown["channel"]["participants"]]


async def _acts(server: GameServer, player: Player) -> bool:
    """Whether a server may act for a player."""
    asked = await server.ask("POST", "/v1/social/friends/server/overview", {"actorId": player.id})
    assert asked.status_code in {200, 403}, asked.text
    return asked.status_code == 200


async def test_a_name_goes_from_all_but_what_cannot_be_loaded(database_url: str, tmp_path: Path) -> None:
    async with open_world(database_url, tmp_path) as world:
        ann, ben, cid = await world.players("Ann", "Ben", "Cid")
        rooms = [await ann.talk_to(other) for other in (ben, cid)]
        for room in rooms:
            await ann.say(room)
        await ask(ann, ben)
        party_id = await gather(ann, ben)
    async with open_world(database_url, tmp_path) as world:
        ann, ben, cid = (Player(world, one.id, one.name, one.token) for one in (ann, ben, cid))
        first, last = sorted(zip((room.id for room in rooms), (ben, cid), strict=True))
        said = await break_head(world, "conversation", first[0])
        played = await break_head(world, "party", party_id)
        root = await world.super_admin()
        await root.do("DELETE", one(ann), status=204)
        with pytest.raises(Fault):
            await swept(world)
        left, _ = await world.service.database.read(unswept, (-1, ""), 10)
        assert [erasure.user_id for erasure in left] == [ann.id]
        conversation = f"/v1/social/chat/conversations/{last[0]}"
        for path in (f"{conversation}/messages", f"{conversation}/events?since=0"):
            told = str(await last[1].get(path))
            assert "deleted" in told
            assert "'Ann'" not in told
        assert "'Ann'" not in str(await ben.get("/v1/notifications"))
        # It is finished once the other can be loaded.
        await break_head(world, "conversation", first[0], said)
        await break_head(world, "party", party_id, played)
        world.advance(FIRST_PARK_MS)  # on a slow machine it may have failed so often
        await swept(world)
        assert await world.service.database.read(unswept, (-1, ""), 10) == ([], None)
        told = str(await first[1].get(f"/v1/social/chat/conversations/{first[0]}/events?since=0"))
        assert "'Ann'" not in told
        party = (await ben.get(PARTY))["party"]
        assert (party["leaderId"], [one["playerId"] for one in party["members"]]) == (ben.id, [ben.id])
