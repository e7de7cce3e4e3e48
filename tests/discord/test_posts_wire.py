"""Wire: what is posted, in which order, and what is not."""

import pytest

from actors.discord import posting
from actors.discord.uptime import SETTLE_MS
from tests.connect.play import GameServer
from tests.discord.play import Guild, put, queue, said, waiting_webhook
from tests.networks.play import Net, network
from tests.news.play import change, write
from tests.publications.play import publish, push
from tests.support.waiting import patience, wait_until

MINUTE = SETTLE_MS // 1000


async def article(net: Net, title: str, **more: object) -> object:
    return await write(net.owner, title, scope={"type": "network", "id": net.id}, **more)


async def member(net: Net, server: GameServer, name: str) -> str:
    """Somebody who is a member of a server from now on."""
    player = await net.owner.world.player(name)
    body = {"role": "viewer"}
    await net.owner.do("PUT", f"{server.path}/members/{player.id}", body)
    return player.id


async def test_each_event_is_told(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"), "Sky*Islands")
    server = await net.server("Lobby_1")
    await article(net, "Patch <@1>", summary="A *lot* @everyone")
    await member(net, server, "Ben")
    await publish(net.owner, server)
    assert await guild.posted(3) == [
        "Patch \\<\\@1\\>",
        "**Ben** is now a member of **Lobby\\_1**.",
        "**Sky Islands** is in the public list of servers: play\\.example\\.org",
    ]
    first = guild.webhook.posts[0]
    assert first["embeds"][0]["description"] == "A \\*lot\\* \\@everyone"
    assert [post["username"] for post in guild.webhook.posts] == ["Sky*Islands"] * 3
    assert [post["allowed_mentions"] for post in guild.webhook.posts] == [{"parse": []}] * 3
    await guild.drained(net)


async def test_servers_are_told_of_once_their_state_has_lasted(guild: Guild) -> None:
    world = guild.world
    net = await guild.network(await world.player("Ann"), events=["server_online", "server_offline"])
    server = await net.server()
    await push(server)
    await guild.tell_of_servers()
    guild.later(MINUTE - 1)
    await guild.tell_of_servers()
    assert await queue(world, net.id) == []
    await push(server)
    guild.later(1)
    await guild.tell_of_servers()
    assert await guild.posted(1) == ["**Lobby** is online."]
    # It says so itself, or says nothing any more: the last status counts for 90 seconds.
    guild.later(91)
    await guild.tell_of_servers()
    guild.later(MINUTE)
    await guild.tell_of_servers()
    assert await guild.posted(2) == ["**Lobby** is online.", "**Lobby** is offline."]


@pytest.mark.one_node(because="it counts to the last token")
async def test_one_that_flaps_is_not_told_of(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    server = await net.server()
    for number in range(20):
        await push(server, online=number % 2 == 0)
        guild.later(MINUTE / 2)
        await guild.tell_of_servers()
    assert await queue(guild.world, net.id) == []
    assert guild.webhook.posts == []


async def test_those_that_are_online_when_the_webhook_comes_are_not_told_of(guild: Guild) -> None:
    world = guild.world
    net = await network(await world.player("Ann"))
    old, new = await net.server("Old"), await net.server("New")
    await push(old)
    await put(net, webhookUrl=guild.site.url(guild.webhook))
    await push(new)
    guild.later(MINUTE)
    await guild.tell_of_servers()
    assert await guild.posted(1) == ["**New** is online."]
    await push(old, online=False)
    await push(new)
    guild.later(MINUTE)
    await guild.tell_of_servers()
    assert (await guild.posted(2))[1:] == ["**Old** is offline."]


async def test_only_what_is_wanted_is_posted(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"), events=["server_offline"])
    server = await net.server()
    await publish(net.owner, net)
    await article(net, "Patch")
    await member(net, server, "Ben")
    await push(server)
    guild.later(MINUTE)
    await guild.tell_of_servers()
    await push(server, online=False)
    guild.later(MINUTE)
    await guild.tell_of_servers()
    assert await guild.posted(1) == ["**Lobby** is offline."]
    await guild.drained(net)


async def test_what_is_gone_when_its_turn_comes_is_not_told(guild: Guild) -> None:
    world = guild.world
    net = await guild.network(await world.player("Ann"))
    server, other = await net.server("Lobby"), await net.server("Other")
    guild.site.halt(60)
    await publish(net.owner, net)
    await guild.halted()
    withdrawn = await article(net, "Withdrawn")
    await change(net.owner, withdrawn, status="archived")
    changed = await article(net, "Before")
    await change(net.owner, changed, title="After")
    ben = await member(net, server, "Ben")
    await net.owner.do("DELETE", f"{server.path}/members/{ben}")
    gone = await member(net, server, "Gone")
    await (await world.super_admin()).do("DELETE", f"/v1/admin/users/{gone}")
    await publish(net.owner, other, hidden=False)
    await publish(net.owner, other, hidden=True)
    guild.later(61)
    assert (await guild.posted(2))[1:] == ["After"]
    await guild.drained(net)


async def test_articles_for_others_than_everybody_stay_here(guild: Guild) -> None:
    ann = await guild.world.player("Ann")
    net, other = await guild.network(ann), await network(ann, "Other")
    await waiting_webhook(guild.world, other.id)
    hidden = await article(net, "Hidden", visibility="authenticated")
    await change(ann, hidden, visibility="public")
    await article(other, "Elsewhere")
    host = await net.host()
    await write(ann, "Of a server", scope={"type": "server", "id": host.id})
    assert await guild.posted(1) == ["Of a server"]
    assert [event for event, _ in await queue(guild.world, other.id)] == ["news_published"]


async def test_their_order_is_kept_and_one_is_on_its_way(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    titles = [f"{number}" for number in range(12)]
    for title in titles:
        await article(net, title)
    seen: list[str] = []
    while len(seen) < len(titles):
        guild.later(1)
        seen = await guild.posted(min(len(seen) + 1, len(titles)))
    assert seen == titles
    assert guild.site.most_at_once[guild.webhook.id] == 1
    # The headers said when there was room, so nobody had to refuse.
    assert len(guild.site.asked) == 1 + len(titles)


async def test_the_oldest_of_too_many_go(guild: Guild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posting, "QUEUE_MAX", 3)
    ann = await guild.world.player("Ann")
    net, other = await network(ann), await network(ann, "Other")
    for one in (net, other):
        await waiting_webhook(guild.world, one.id)
    await article(other, "x")
    made = [await article(net, f"{number}") for number in range(5)]
    assert [about for _, about in await queue(guild.world, net.id)] == [one["id"] for one in made[2:]]  # type: ignore[index]
    assert len(await queue(guild.world, other.id)) == 1


async def test_what_is_a_day_old_is_not_sent(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann", ttl_seconds=100_000))
    guild.site.halt(3600)
    await publish(net.owner, net)
    await guild.halted()
    await article(net, "Old")
    guild.later(24 * 3600 + 1)
    await article(net, "New")
    assert (await guild.posted(1))[-1:] == ["New"]
    await guild.drained(net)


async def test_the_queue_goes_with_the_webhook(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.halt(3600)
    await publish(net.owner, net)
    assert len(await queue(guild.world, net.id)) == 1
    await put(net, webhookUrl=None)
    assert await queue(guild.world, net.id) == []


async def test_a_new_webhook_waits_for_what_is_on_its_way_to_the_former_one(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    held = guild.site.faults.add("held", on="POST")
    for title in ("First", "Second"):
        await article(net, title)
    guild.wake()
    with patience():
        await held.reached.wait()
    second = guild.site.make(guild.webhook.guild_id)
    await put(net, webhookUrl=guild.site.url(second))
    await guild.tell_of_servers()
    guild.site.faults.release()
    await guild.drained(net)
    assert [said(post) for post in guild.webhook.posts] == ["First"]
    assert [said(post) for post in second.posts] == ["Second"]


async def test_two_networks_with_one_webhook_take_turns(guild: Guild) -> None:
    ann = await guild.world.player("Ann")
    nets = [await guild.network(ann, name) for name in ("One", "Two")]
    guild.site.limit = 100
    for number in range(5):
        for net in nets:
            await article(net, f"{net.id} {number}")
    await guild.posted(10)
    assert guild.site.most_at_once[guild.webhook.id] == 1


async def test_a_new_webhook_gets_what_waits(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.faults.add("503", on="POST", times=100)
    await article(net, "First")

    async def failed() -> bool:
        guild.wake()
        return await guild.attempts(net) == [1]

    await wait_until(failed)
    second = guild.site.make(guild.webhook.guild_id)
    await put(net, webhookUrl=guild.site.url(second))
    guild.site.faults.clear()

    guild.later(60)
    await guild.drained(net)
    assert [said(post) for post in second.posts] == ["First"]
    assert guild.webhook.posts == []
