"""Wire: a user's game servers, live: which they are, what one may do there, their status, and whether they listen."""

from random import Random
from typing import Any

import pytest

from actors.connect.capabilities import OF_ROLE
from actors.connect.listening import ASKED_MS
from actors.connect.own_view import INTERVAL_MS
from routes.connect.own_servers import OWN_SERVERS
from routes.connect.waiters import WAITERS
from tests.connect.play import SERVERS, GameServer, claimed, register
from tests.networks.play import network
from tests.publications.play import flush, push
from tests.support.spec import spec
from tests.support.waiting import patience, wait_until
from tests.support.websocket import Client, connect
from tests.support.world import Player, World

LIVE = "/v1/social/live?channels="


async def listed(player: Player) -> list[Any]:
    """What a page that reloads shows."""
    return list((await player.get(SERVERS, member="true"))["items"])


class Shown:
    """What a client shows that takes the events of the channel.

    Args:
        player: whose socket it is.
        client: the socket.
    """

    def __init__(self, player: Player, client: Client) -> None:
        self.player = player
        self.client = client
        self.items: dict[str, Any] = {}

    async def begin(self) -> None:
        subscribe = {"id": 1, "op": "subscribe", "channel": "servers", "params": {"mode": "delta"}}
        await self.client.send_json(subscribe)
        snapshot = (await self.client.receive_until(type="snapshot", channel="servers"))["data"]
        spec().check_frame("ServersSnapshot", snapshot)
        assert snapshot["type"] == "servers_snapshot"
        self.items = {one["serverId"]: one for one in snapshot["items"]}

    def ordered(self) -> list[Any]:
        return sorted(self.items.values(), key=lambda one: (one["createdAt"], one["serverId"]))

    async def catch_up(self) -> None:
        """Take events until it shows what a page shows that reloads."""
        with patience():
            while self.ordered() != await listed(self.player):
                self.player.world.advance(INTERVAL_MS)
                self.take(await self.client.receive_until(type="event", channel="servers"))

    def take(self, frame: Any) -> None:
        data = frame["data"]
        if frame["event"] == "server_removed":
            spec().check_frame("ServerGone", data)
            del self.items[data["serverId"]]
        else:
            spec().check_frame("OwnServer", data)
            self.items[data["serverId"]] = data


def stream(server: GameServer) -> Any:
    headers = [("x-server-id", server.id)]
    path = f"{server.path}/stream"
    heard = spec().frames_of(path)
    return connect(server.world.url + path, token=server.token, headers=headers, heard=heard)


async def test_what_a_member_may_do_is_shown(world: World) -> None:
    ann, bob = await world.players("Ann", "Bob")
    server = await claimed(world, ann)
    assert await listed(bob) == []
    member = {"role": "viewer", "capabilities": ["server.commands.write"]}
    await ann.do("PUT", f"{server.path}/members/{bob.id}", member)
    (shown,) = await listed(bob)
    assert shown["access"] == {
        "role": "viewer", "capabilities": sorted(OF_ROLE["viewer"] | {"server.commands.write"}),
    }  # fmt: skip
    assert (await bob.get(SERVERS))["items"] == []
    assert [one["access"]["role"] for one in (await ann.get(SERVERS))["items"]] == ["owner"]


@pytest.mark.one_node(
    because="it holds a page of one node against a socket of another, which are a moment apart"
)
async def test_every_change_is_told(world: World) -> None:
    ann, bob = await world.players("Ann", "Bob")
    net = await network(ann)
    server = await claimed(world, ann)
    async with bob.live(LIVE) as client, ann.live(LIVE) as own:
        shown, hers = Shown(bob, client), Shown(ann, own)
        await shown.begin()
        await hers.begin()
        assert (list(shown.items), list(hers.items)) == ([], [server.id])
        await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "operator"})
        await shown.catch_up()
        assert shown.items[server.id]["access"]["role"] == "operator"
        await push(server, 7)
        await shown.catch_up()
        assert shown.items[server.id]["status"]["playerCount"] == 7
        await ann.do("PATCH", server.path, {"networkId": net.id})
        await shown.catch_up()
        assert shown.items[server.id]["networkId"] == net.id
        agent = await net.server()
        await hers.catch_up()
        assert agent.id in hers.items
        await ann.do("DELETE", f"{server.path}/members/{bob.id}")
        await shown.catch_up()
        assert shown.items == {}
        await ann.do("DELETE", server.path, status=204)
        await hers.catch_up()
        assert list(hers.items) == [agent.id]
        world.clock.advance(90_001)
        await flush(world)
        await hers.catch_up()

    async def forgotten() -> bool:
        return world.service.of(OWN_SERVERS).watched() == 0

    await wait_until(forgotten)


async def test_who_is_taken_out_is_told(world: World) -> None:
    """On whichever node the server lives, and their socket is."""
    ann, bob = await world.players("Ann", "Bob")
    for service in world.services:
        service.limits.enabled = False
    for _ in range(2 * len(world.services)):
        server = await claimed(world, ann)
        async with bob.live(LIVE) as client:
            shown = Shown(bob, client)
            await shown.begin()
            await ann.do("PUT", f"{server.path}/members/{bob.id}", {"role": "operator"})
            await shown.catch_up()
            assert list(shown.items) == [server.id]
            await ann.do("DELETE", f"{server.path}/members/{bob.id}")
            await shown.catch_up()
            assert shown.items == {}


async def test_a_server_listens_while_its_stream_is_open_or_it_has_just_asked(world: World) -> None:
    ann = await world.player("Ann")
    polls, streams = await claimed(world, ann, "Polls"), await claimed(world, ann, "Streams")
    async with ann.live(LIVE) as client:
        shown = Shown(ann, client)
        await shown.begin()
        assert {one["listening"] for one in shown.items.values()} == {False}
        async with stream(streams) as socket:
            await socket.receive_json()
            await polls.get(f"{polls.path}/commands")
            await shown.catch_up()
            assert {one["listening"] for one in shown.items.values()} == {True}
            world.clock.advance(ASKED_MS)
            for service in world.services:
                service.of(WAITERS).listening.sweep(world.clock.now_ms())
            await shown.catch_up()
            assert not shown.items[polls.id]["listening"]
        with patience():
            while shown.items[streams.id]["listening"]:
                world.advance(INTERVAL_MS)
                shown.take(await client.receive_until(type="event", channel="servers"))


@pytest.mark.parametrize("seed", range(3))
async def test_snapshot_and_events_are_a_fresh_snapshot(world: World, seed: int) -> None:
    """Whatever happens, in whatever order."""
    random = Random(seed)
    ann, bob = await world.players("Ann", "Bob")
    mine: list[GameServer] = []
    for service in world.services:
        service.limits.enabled = False
    async with bob.live(LIVE) as client:
        shown = Shown(bob, client)
        await shown.begin()
        for _ in range(25):
            step = random.randrange(7)
            if step == 0 or not mine:
                mine.append(await claimed(world, random.choice([ann, bob])))
            server = random.choice(mine)
            path = f"{server.path}/members/{bob.id}"
            owner = (
                bob if server.id in {one["serverId"] for one in (await bob.get(SERVERS))["items"]} else ann
            )
            match step:
                case 1 if owner is ann:
                    role = random.choice(["viewer", "operator", "admin"])
                    await ann.do("PUT", path, {"role": role})
                case 2 if owner is ann:
                    await ann.ask("DELETE", path)
                case 3:
                    await owner.do("DELETE", server.path, status=204)
                    mine.remove(server)
                case 4 | 5:
                    world.clock.advance(1_000)
                    await push(server, random.randrange(20))
                case 6:
                    await server.get(f"{server.path}/commands")
            if random.random() < 0.5:
                await shown.catch_up()
        await shown.catch_up()


async def test_servers_of_others_are_told_to_nobody(world: World) -> None:
    """A server that nobody has claimed, and reports of a server that nobody watches, touch no view."""
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await register(world)
    async with (await world.player("Eve")).live(LIVE + "servers") as client:
        first = await client.receive_until(type="snapshot")
        assert first["data"]["items"] == []
        await push(server)
        world.advance(INTERVAL_MS)
        await client.send_json({"id": 9, "op": "ping"})
        assert (await client.receive_json())["type"] == "pong"
