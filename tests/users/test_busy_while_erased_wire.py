"""Wire: a user who joins and begins things while they are erased is in none of them afterwards."""

from collections.abc import Awaitable, Callable
from functools import partial

from persistence.users.permissions import lock_super_admins
from tests.connect.play import GameServer, claimed
from tests.friends.play import make_friends
from tests.party.play import PARTY, gather
from tests.support.locks import held_up
from tests.support.world import Player, World
from tests.users.play import again, one, swept
from tests.voice.play import join, node, node_server, private

LIVE = "/v1/social/voice/live"


async def erased_while(user: Player, busy: Callable[[], Awaitable[object]]) -> Player:
    """Erase a user who is busy once everything has let them go; returns them as they come back."""
    world = user.world
    root = await world.super_admin()
    ask = partial(root.do, "DELETE", one(user), status=204)
    await held_up(world.service.database, lock_super_admins, ask, busy)
    await swept(world)
    return again(world, user)


async def test_a_party_that_took_in_a_user_meanwhile_loses_them(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")

    async def busy() -> None:
        await gather(ann, ben)
        await ann.do("POST", f"{PARTY}/invites", {"targetId": cid.id}, status=200)

    back = await erased_while(ann, busy)
    party = (await ben.get(PARTY))["party"]
    assert (party["leaderId"], [member["playerId"] for member in party["members"]]) == (ben.id, [ben.id])
    assert (await back.get(PARTY))["party"] is None


async def test_a_server_of_their_own(world: World) -> None:
    ann = await world.player("Ann")
    servers: list[GameServer] = []

    async def busy() -> None:
        servers.append(await claimed(world, ann))

    back = await erased_while(ann, busy)
    (server,) = servers
    settings = f"/v1/connect/servers/{server.id}/settings"
    assert (await server.ask("GET", settings)).status_code == 401
    assert await back.refused("GET", settings) == (404, "NOT_FOUND")


async def test_somebody_elses_server(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    server = await claimed(world, ben)
    path = f"/v1/connect/servers/{server.id}"

    async def busy() -> None:
        await ben.do("PUT", f"{path}/members/{ann.id}", {"role": "admin"})
        await server.seat(ann)

    back = await erased_while(ann, busy)
    assert await back.refused("GET", f"{path}/settings") == (404, "NOT_FOUND")
    asked = await server.ask("POST", "/v1/social/friends/server/overview", {"actorId": ann.id})
    assert asked.status_code == 403, asked.text


async def test_a_voice_channel(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    await make_friends(ann, ben)
    await node(world, await node_server(world))
    channel = await private(ann, ben)
    await join(ben, channel)
    await erased_while(ann, partial(join, ann, channel))
    async with ben.live(LIVE) as socket:
        shown = (await socket.receive_json())["channel"]
    assert [member["userId"] for member in shown["participants"]] == [ben.id]
