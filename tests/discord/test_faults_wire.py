"""Wire: Discord goes wrong in every way. A post that it may have received is never sent again."""

from functools import partial

import pytest

from actors.discord.posting import QUEUE_MAX, post
from persistence.connection import Connection
from persistence.discord import outbox
from persistence.discord.rows import Subject
from routes.changes import change_by_itself
from routes.discord import sender
from routes.discord.parts import WEBHOOKS
from tests.discord.play import Guild, put, queue, said, shown
from tests.networks.play import Net
from tests.news.play import write
from tests.support.refusing import refuse
from tests.support.waiting import wait_until

POST = "POST"
DAY = 100_000


async def article(net: Net, title: str) -> None:
    await write(net.owner, title, scope={"type": "network", "id": net.id})


async def _marked(conn: Connection) -> int:
    found: int = await conn.fetchval("SELECT count(*) FROM discord_outbox WHERE sending")
    return found


async def _mark_first(conn: Connection) -> None:
    await conn.execute(
        "UPDATE discord_outbox SET sending = true WHERE seq = (SELECT min(seq) FROM discord_outbox)"
    )


def tries(guild: Guild) -> int:
    """How often something was posted, taken or not."""
    return sum(method == POST for method, _ in guild.site.asked)


async def tried(guild: Guild, count: int) -> None:
    async def so_often() -> bool:
        guild.wake()
        return tries(guild) >= count

    await wait_until(so_often)


async def noted(guild: Guild, net: Net, failures: int) -> None:
    """Return once the webhook's row has so many failures."""

    async def so() -> bool:
        return (await guild.row(net)).failures == failures

    await wait_until(so)


@pytest.mark.parametrize("fault", ["429", "500", "503"])
async def test_what_was_certainly_not_taken_is_sent_again(guild: Guild, fault: str) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.faults.add(fault, on=POST)
    await article(net, "First")
    await tried(guild, 1)
    await article(net, "Second")
    guild.later(6)
    assert await guild.posted(2) == ["First", "Second"]
    assert tries(guild) == 3
    assert (await shown(net))["webhookStatus"] == "active"


@pytest.mark.parametrize("fault", ["deep", "latin"])
async def test_a_refusal_that_cannot_be_read_is_one_all_the_same(guild: Guild, fault: str) -> None:
    """Discord has not taken the post, so it is sent again, as after every 429."""
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.halt(3)
    guild.site.faults.add(fault, on=POST)
    await article(net, "First")
    await guild.halted()
    assert len(await queue(guild.world, net.id)) == 1
    guild.later(6)
    assert await guild.posted(1) == ["First"]
    assert tries(guild) == 2


@pytest.mark.parametrize("fault", ["dropped", "cut", "html", "encoded", "redirect", "endless"])
async def test_what_may_have_been_taken_is_not_sent_again(guild: Guild, fault: str) -> None:
    """`html` is an answer of 200 that says nothing of the message; with it nothing is in doubt."""
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.faults.add(fault, on=POST)
    await article(net, "First")
    await tried(guild, 1)
    await article(net, "Second")
    guild.later(6)
    assert await guild.posted(2) == ["First", "Second"]
    await guild.drained(net)
    assert tries(guild) == 2
    assert (await guild.row(net)).failures == 0


async def test_one_who_never_answers_gets_it_once(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.impatient()
    guild.site.faults.add("never", on=POST)
    await article(net, "First")
    await noted(guild, net, 1)
    assert await queue(guild.world, net.id) == []
    assert tries(guild) == 1


async def test_what_is_refused_is_dropped_and_the_next_goes_on(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.faults.add("400", on=POST)
    for title in ("First", "Second"):
        await article(net, title)
    assert await guild.posted(1) == ["Second"]
    assert (await shown(net))["webhookStatus"] == "active"


@pytest.mark.parametrize(("fault", "status"), [("404", "gone"), ("401", "invalid"), ("403", "invalid")])
async def test_a_webhook_that_is_no_more_is_never_used_again(guild: Guild, fault: str, status: str) -> None:
    net = await guild.network(await guild.world.player("Ann", ttl_seconds=DAY))
    server = await net.server()
    guild.site.faults.add(fault, on=POST)
    for title in ("First", "Second"):
        await article(net, title)
    await guild.until(net, status)
    assert await queue(guild.world, net.id) == []
    assert (await guild.row(net)).sealed_token is None
    await article(net, "Third")
    of_servers = partial(outbox.add_of_servers, now_ms=guild.world.clock.now_ms())
    assert await guild.world.service.database.transact(of_servers, "server_online", [server.id]) == set()
    assert await queue(guild.world, net.id) == []
    asked = len(guild.site.asked)
    guild.later(7200)
    # Other settings change nothing about that; the address given anew does.
    assert (await put(net, guildId="299999999999999999"))["webhookStatus"] == status
    assert len(guild.site.asked) == asked
    assert (await put(net, webhookUrl=guild.site.url(guild.webhook)))["webhookStatus"] == "active"
    await article(net, "Fourth")
    assert await guild.posted(1) == ["Fourth"]


async def test_a_full_bucket_is_waited_for_without_asking(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.limit, guild.site.window_s = 1, 30.0
    guild.world.clock.stop()
    for title in ("First", "Second"):
        await article(net, title)
    assert await guild.posted(1) == ["First"]

    async def waiting() -> bool:
        return (await guild.row(net)).due_at_ms == guild.world.clock.now_ms() + 30_000

    await wait_until(waiting)
    guild.later(29)
    guild.later(1.1)
    assert await guild.posted(2) == ["First", "Second"]
    assert tries(guild) == 2


async def test_a_global_limit_stops_all(guild: Guild) -> None:
    ann = await guild.world.player("Ann")
    one = await guild.network(ann, "One")
    second = guild.site.make(guild.webhook.guild_id)
    other = await guild.network(ann, "Other")
    await put(other, webhookUrl=guild.site.url(second))
    guild.world.clock.stop()
    guild.site.halt(45.5)
    await article(one, "First")
    await guild.halted()
    await article(other, "Second")
    guild.later(45)
    assert tries(guild) == 1
    guild.later(1)
    assert await guild.posted(1) == ["First"]

    async def there() -> bool:
        guild.wake()
        return [said(post) for post in second.posts] == ["Second"]

    await wait_until(there)
    assert tries(guild) == 3


async def test_what_an_earlier_process_has_marked_is_not_sent(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.halt(60)
    await article(net, "First")
    await guild.halted()
    await article(net, "Second")

    async def unmarked() -> bool:
        return not await guild.world.service.database.read(_marked)

    await wait_until(unmarked)
    await guild.world.service.database.transact(_mark_first)
    guild.later(61)
    assert await guild.posted(1) == ["Second"]
    await guild.drained(net)


async def test_ten_failures_are_enough(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.faults.add("503", on=POST, times=10)
    await article(net, "First")
    for attempts in range(1, 10):

        async def failed(attempts: int = attempts) -> bool:
            guild.wake()
            return await guild.attempts(net) == [attempts]

        await wait_until(failed)
        guild.later(1300)
    await guild.drained(net)
    assert tries(guild) == 10
    assert guild.webhook.posts == []


async def test_after_half_an_hour_it_is_asked_until_it_answers(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann", ttl_seconds=DAY))
    guild.site.faults.add("500", times=12)
    await article(net, "First")
    await noted(guild, net, 1)
    guild.later(1801)
    await guild.until(net, "unreachable")
    assert tries(guild) == 2
    for failures in range(3, 13):
        guild.later(3601)
        await noted(guild, net, failures)
    # The post has waited, and none of the questions could do harm.
    assert tries(guild) == 2
    guild.later(3601)
    assert await guild.posted(1) == ["First"]
    assert (await shown(net))["webhookStatus"] == "active"


async def test_one_that_cannot_be_reached_loses_nothing(guild: Guild) -> None:
    """The port is closed: no byte was sent, so posts are kept and sent once somebody listens again."""
    world = guild.world
    net = await guild.network(await world.player("Ann"))
    upstreams = [service.of(WEBHOOKS).api._upstream for service in world.services]
    there = upstreams[0]._base_url
    for upstream in upstreams:
        upstream._base_url = "http://127.0.0.1:1"
    for title in ("First", "Second"):
        await article(net, title)
    await noted(guild, net, 1)
    assert len(await queue(world, net.id)) == 2
    for upstream in upstreams:
        upstream._base_url = there
    guild.later(6)
    assert await guild.posted(2) == ["First", "Second"]
    assert tries(guild) == 2


async def test_a_minute_without_discord_fills_no_queue_and_loses_little(guild: Guild) -> None:
    """Each answer that does not come costs one post, so the next one waits the longer for its turn."""
    world = guild.world
    net = await guild.network(await world.player("Ann"))
    server = await net.server()
    guild.impatient()
    guild.site.faults.add("never", times=10_000)
    about = Subject(server_id=server.id)
    for _ in range(60):
        for _ in range(5):
            await change_by_itself(
                world.service, post, "server_online", about, world.clock.now_ms(), about=None
            )
        # The oldest may be the one that the sender is noting in a transaction of its own: it is passed over.
        assert len(await queue(world, net.id)) <= QUEUE_MAX + 1
        guild.later(1)
    assert (await put(net, webhookUrl=guild.site.url(guild.webhook)))["webhookStatus"] == "unreachable"
    assert 1 <= tries(guild) <= 5
    assert len(await queue(world, net.id)) >= QUEUE_MAX - tries(guild)


async def test_a_webhook_whose_posts_fail_holds_up_no_other(
    guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender, "CONCURRENT", 1)
    ann, ben = await guild.world.players("Ann", "Ben")
    bad = await guild.network(ann, "Sky")
    guild.later(1)
    good = await guild.network(ben, "Sea")
    await refuse(guild.world, "UPDATE ON discord_outbox", f"OLD.network_id = '{bad.id}'")
    await article(bad, "Bad")
    await article(good, "Good")
    assert await guild.posted(1) == ["Good"]
    assert await queue(guild.world, bad.id) != []
