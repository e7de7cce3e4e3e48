"""What a node has committed and told nobody before it ended is in the memory of the others soon after its end."""

from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest

from actors.connect.events import SessionEnded
from actors.voice.home import HOME_SHARD
from actors.voice.units_channels import ChannelCreation, found
from persistence.connection import Connection
from persistence.friends import blocks, links
from routes.connect.parts import GAME_SERVERS
from routes.discord.parts import WEBHOOKS
from routes.friends.parts import FRIENDS_LIVE
from routes.gateways.parts import GATEWAY_REGISTRY
from routes.party.memberships import MEMBERSHIPS
from routes.voice.parts import ATTENDANCE, FLEET
from tests.connect.play import claimed
from tests.friends.play import make_friends
from tests.gateways.play import TOKEN, gateway
from tests.networks.play import network
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer
from tests.support.waiting import wait_until
from tests.voice.play import join, node, node_server, private

pytestmark = pytest.mark.slow

NEW_SECRET = bytes(range(32))


async def test_memory_is_what_rows_say_after_the_end_of_a_node(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b", gateway_token=TOKEN) as cluster:
        a = cluster.worlds["a"]
        ann, ben, cid = await a.players("Ann", "Ben", "Cid")
        await make_friends(ann, cid)
        circles = a.service.of(FRIENDS_LIVE).circles
        await circles.learn(ann.id)
        kept, gone = await gateway(a), await gateway(a, "gw2.example.net")
        server = await claimed(a, ann)
        await server.seat(ben)
        party_id = (await ann.do("POST", "/v1/social/party"))["party"]["id"]
        servers, memberships = a.service.of(GAME_SERVERS), a.service.of(MEMBERSHIPS)
        session = servers.playing.session_of(ben.id, server.id)
        assert session is not None
        assert servers.credentials.peek(server.id) is not None

        async def change(conn: Connection) -> None:
            await conn.execute("UPDATE gateways SET secret = $2 WHERE gateway_id = $1", kept.id, NEW_SECRET)
            await conn.execute("DELETE FROM gateways WHERE gateway_id = $1", gone.id)
            await links.remove(conn, ann.id, cid.id)

        await cluster.worlds["b"].service.database.transact(change)
        memberships.left(ann.id, party_id)
        memberships.joined(ben.id, party_id)
        servers.playing.hear(SessionEnded(session))
        await cluster.remove("b")

        async def is_right() -> bool:
            registry = a.service.of(GATEWAY_REGISTRY)
            row = registry.row(kept.id)
            return (
                row is not None
                and row.secret == NEW_SECRET
                and registry.row(gone.id) is None
                and memberships.of(ann.id) == party_id
                and memberships.of(ben.id) is None
                and servers.playing.session_of(ben.id, server.id) is not None
                and servers.credentials.peek(server.id) is None
                and not circles.among(ann.id, [cid.id])
            )

        await wait_until(is_right)


async def test_voice_and_watched_servers_are_what_rows_say_after_the_end_of_a_node(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        a, b = cluster.worlds["a"], cluster.worlds["b"]
        ann, ben = await a.players("Ann", "Ben")
        server = await node_server(a)
        kept, gone = await node(a, server), await node(a, server)
        new = gone.id[::-1]
        # As the rows of what another node has registered, made and stored, and told nobody.
        private = ChannelCreation(ann.id, str(uuid4()), "1a2b3c", ben.id, None, kept.id, a.clock.now_ms())
        net = await network(ann)

        async def change(conn: Connection) -> None:
            await conn.execute("UPDATE voice_nodes SET node_id = $2 WHERE node_id = $1", gone.id, new)
            await found(conn, private)
            await conn.execute(
                "INSERT INTO network_discord"
                " (network_id, guild_id, events, webhook_status, webhook_id, created_at_ms, updated_at_ms)"
                " VALUES ($1, '1', '{server_online}', 'gone', '1', 0, 0)",
                net.id,
            )

        await b.service.database.transact(change)
        await cluster.remove("b")

        async def is_right() -> bool:
            fleet = a.service.of(FLEET)
            return (
                fleet.get(gone.id) is None
                and fleet.get(new) is not None
                and a.service.of(ATTENDANCE).of_pair(ann.id, ben.id) is not None
                and a.service.of(WEBHOOKS).uptime.watches(net.id)
            )

        await wait_until(is_right)


async def test_a_block_ends_voice_between_two_after_the_end_of_the_node_that_took_it(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b") as cluster:
        minds = next(n for n, one in cluster.worlds.items() if HOME_SHARD in one.service.placement.held())
        (other,) = cluster.worlds.keys() - {minds}
        world = cluster.worlds[minds]
        ann, ben = await world.players("Ann", "Ben")
        await node(world, await node_server(world))
        channel_id = await private(ann, ben)
        await join(ann, channel_id)
        block = partial(blocks.put, user_id=ben.id, target_id=ann.id, reason=None, now_ms=0)
        await cluster.worlds[other].service.database.transact(block)
        await cluster.remove(other)

        async def has_ended() -> bool:
            return world.service.of(ATTENDANCE).of_user(ann.id) is None

        await wait_until(has_ended)
