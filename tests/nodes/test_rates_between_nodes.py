"""Rates, and the cap of sockets, of somebody who asks both nodes."""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from persistence.nodes.shards import shard_of
from routes.edge.websocket.registry import MAX_PER_USER
from routes.rates import CHAT_SEND, INVITE
from tests.friends.play import FRIENDS
from tests.party.play import INVITES, PARTY, invite
from tests.support.cluster import open_cluster
from tests.support.nats import NatsServer
from tests.support.waiting import wait_until

pytestmark = pytest.mark.slow


async def test_messages_of_one_conversation_are_counted_where_it_lives(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    """To the message, whichever node is asked."""
    async with open_cluster(database_url, tmp_path, nats, "a", "b", rate_limits="on") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        room = await ann.talk_to(await cluster.worlds["a"].player("Ben"), kind="group")
        policy, clock = CHAT_SEND, cluster.worlds["a"].clock
        began_ms, sent = clock.now_ms(), 0
        while True:
            there = cluster.at(ann, "ab"[sent % 2])
            answer = await there.ask("POST", room.messages, {"content": "?"})
            assert answer.headers["ratelimit-policy"].startswith('"chat-send"')
            if answer.status_code == 429:
                break
            assert answer.status_code == 201
            sent += 1
        refilled = (clock.now_ms() - began_ms) / 1000 * policy.quota / policy.window_seconds
        assert policy.quota <= sent <= policy.quota + refilled
        # Strangers spend nothing on a conversation, wherever they ask for it.
        eve = await cluster.worlds["a"].player("Eve")
        for number in range(policy.quota + 2):
            answer = await cluster.at(eve, "ab"[number % 2]).ask("POST", room.messages, {"content": "?"})
            assert answer.status_code == 404
            assert "ratelimit" not in answer.headers


async def test_an_invite_counts_once_wherever_it_comes_in(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b", rate_limits="on") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        ben = await cluster.worlds["a"].player("Ben")
        party_id = (await ann.do("POST", PARTY, status=200))["party"]["id"]
        shard = shard_of("party", party_id)
        elsewhere = next(
            name for name, world in cluster.worlds.items() if shard not in world.service.placement.held()
        )
        there = cluster.at(ann, elsewhere)
        for _ in range(INVITE.quota):
            await invite(there, ben)
            await there.do("DELETE", f"{INVITES}/{party_id}/{ben.id}")
        assert await there.refused("POST", INVITES, {"targetId": ben.id}) == (429, "RATE_LIMITED")


async def test_rates_and_sockets_are_counted_on_both_nodes(
    database_url: str, tmp_path: Path, nats: NatsServer
) -> None:
    async with open_cluster(database_url, tmp_path, nats, "a", "b", rate_limits="on") as cluster:
        ann = await cluster.worlds["a"].player("Ann")
        there = cluster.at(ann, "b")
        while (await ann.ask("GET", FRIENDS)).status_code == 200:
            pass

        async def is_refused() -> bool:
            answer = await there.ask("GET", FRIENDS)
            return answer.status_code == 429

        await wait_until(is_refused)

        async with AsyncExitStack() as stack:
            ben = await cluster.worlds["a"].player("Ben")
            sockets = []
            for number in range(MAX_PER_USER + 1):
                at = cluster.at(ben, "ab"[number % 2])
                sockets.append(await stack.enter_async_context(at.live("/v1/social/live?channels=")))
            # Node a has six, of which it closes the first.
            assert (await sockets[0].wait_closed()).code == 4429

            async def counts() -> bool:
                open_ = [len(world.service.sockets.of_user(ben.id)) for world in cluster.worlds.values()]
                return open_ == [5, 5]

            await wait_until(counts)
