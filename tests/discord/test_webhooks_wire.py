"""Wire: owners set, read and remove their network's webhook; Discord is asked first."""

from functools import partial

import pytest

from actors.discord import units
from actors.discord.units import DiscordChanged, Webhook
from actors.errors import Conflict
from persistence.connection import Connection
from persistence.discord import outbox, webhooks
from persistence.news import articles
from persistence.news.rows import Scope
from routes.changes import change_by_itself
from routes.discord.parts import WEBHOOKS
from scripts.upstreams.discord import GUILD
from tests.discord.play import EVENTS, Guild, put, queue, shown
from tests.networks.play import Net, network
from tests.publications.play import publish, push
from tests.support.locks import crossed
from tests.support.one_world import in_one_world
from tests.support.waiting import wait_until

OTHER_GUILD = "299999999999999999"


@pytest.mark.both_edges
async def test_an_owner_sets_reads_and_removes_it(guild: Guild) -> None:
    net = await network(await guild.world.player("Ann"))
    assert await shown(net) is None
    invite = "https://discord.gg/sky"
    made = await put(
        net, webhookUrl=guild.site.url(guild.webhook), inviteUrl=invite, events=["news_published"]
    )
    created = made.pop("createdAt")
    assert made == {
        "guildId": GUILD, "inviteUrl": invite, "events": ["news_published"], "webhookStatus": "active",
        "updatedAt": created,
    }  # fmt: skip
    guild.world.advance(1_000)
    changed = await put(net, events=[])
    assert (changed["webhookStatus"], changed["events"], changed["inviteUrl"]) == ("active", [], None)
    assert changed["createdAt"] == created < changed["updatedAt"]
    assert await shown(net) == changed
    assert guild.site.asked == [("GET", guild.webhook.id)]  # kept: not asked again
    assert (await put(net, webhookUrl=None))["webhookStatus"] == "none"
    for _ in range(2):
        await net.owner.do("DELETE", f"{net.path}/discord", status=204)
    assert await shown(net) is None


async def test_it_is_there_for_its_owner_alone(guild: Guild) -> None:
    ann, ben = await guild.world.players("Ann", "Ben")
    net = await guild.network(ann)
    path = f"{net.path}/discord"
    for method, body in (("GET", None), ("PUT", {"guildId": GUILD, "events": []}), ("DELETE", None)):
        assert await ben.refused(method, path, body) == (404, "NOT_FOUND")
        assert (await guild.world.nobody().refused(method, path, body))[0] == 401
    assert (await shown(net))["events"] == list(EVENTS)


@pytest.mark.parametrize("why", ["404", "401", "403", "400", "other guild", "deleted", "renewed"])
async def test_what_discord_does_not_know_is_refused(guild: Guild, why: str) -> None:
    net = await network(await guild.world.player("Ann"))
    url, body = guild.site.url(guild.webhook), {"guildId": GUILD, "events": []}
    if why == "other guild":
        body["guildId"] = OTHER_GUILD
    elif why == "deleted":
        guild.site.delete(guild.webhook.id)
    elif why == "renewed":
        guild.site.renew(guild.webhook.id)
    else:
        guild.site.faults.add(why)
    answer = await net.owner.ask("PUT", f"{net.path}/discord", {**body, "webhookUrl": url})
    assert answer.status_code == 422
    (error,) = answer.json()["errors"]
    assert (error["pointer"], error["code"]) == ("/webhookUrl", "NOT_VERIFIED")
    assert await shown(net) is None


@pytest.mark.parametrize(
    "fault",
    ["500", "503", "429", "dropped", "cut", "html", "deep", "latin", "encoded", "redirect", "endless"],
)
async def test_where_discord_does_not_answer_it_is_stored_and_asked_again(guild: Guild, fault: str) -> None:
    net = await network(await guild.world.player("Ann"))
    guild.site.faults.add(fault)
    made = await put(net, webhookUrl=guild.site.url(guild.webhook))
    assert made["webhookStatus"] == "unreachable"
    assert guild.site.asked == [("GET", guild.webhook.id)]
    guild.later(5)
    await guild.until(net, "active")


@pytest.mark.both_edges
@pytest.mark.parametrize("discord_seconds", [0.2])
async def test_one_who_never_answers_keeps_nobody_waiting(guild: Guild) -> None:
    net = await network(await guild.world.player("Ann"))
    guild.site.faults.add("never")
    assert (await put(net, webhookUrl=guild.site.url(guild.webhook)))["webhookStatus"] == "unreachable"


async def test_one_stored_unasked_that_turns_out_to_be_elsewhere_is_invalid(guild: Guild) -> None:
    net = await network(await guild.world.player("Ann"))
    guild.site.faults.add("503")
    await put(net, webhookUrl=guild.site.url(guild.webhook), guildId=OTHER_GUILD)
    await publish(net.owner, net)
    assert len(await queue(guild.world, net.id)) == 1
    guild.later(5)
    await guild.until(net, "invalid")
    assert await queue(guild.world, net.id) == []
    assert guild.webhook.posts == []


async def test_a_stored_webhook_is_asked_about_where_its_guild_changes(guild: Guild) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    body = {"guildId": OTHER_GUILD, "events": []}
    assert await net.owner.refused("PUT", f"{net.path}/discord", body) == (422, "VALIDATION_FAILED")
    assert (await shown(net))["guildId"] == GUILD
    guild.webhook.guild_id = OTHER_GUILD
    assert (await put(net, guildId=OTHER_GUILD))["webhookStatus"] == "active"
    await publish(net.owner, net)
    assert len(await guild.posted(1)) == 1


@in_one_world(
    ("webhook", "of_guild"),
    [(Webhook("1", b"new", "active", stored=b"former"), GUILD), ("keep", OTHER_GUILD)],
)
async def test_what_was_changed_meanwhile_is_not_overwritten(
    guild: Guild, webhook: Webhook | units.Keep, of_guild: str
) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    before = await guild.row(net)
    wish = units.Wish(of_guild, None, (), webhook, ())
    with pytest.raises(Conflict):
        put = partial(units.put, is_current=lambda _: True)
        await change_by_itself(
            guild.world.service, put, net.id, net.owner.id, wish, 1, about=DiscordChanged(net.id)
        )
    assert await guild.row(net) == before


async def test_how_a_webhook_stands_is_nobody_s_conflict(guild: Guild) -> None:
    ann = await guild.world.player("Ann")
    net = await guild.network(ann)
    path = f"{net.path}/discord"
    seen = (await ann.ask("GET", path)).headers["etag"]
    guild.site.delete(guild.webhook.id)
    await publish(net.owner, net)
    await guild.until(net, "gone")
    assert (await ann.ask("GET", path)).headers["etag"] == seen
    body = {"guildId": GUILD, "events": [], "webhookUrl": None}
    assert (await ann.ask("PUT", path, body, headers={"if-match": seen})).status_code == 200
    refused = await ann.ask("PUT", path, body, headers={"if-match": seen})
    assert (refused.status_code, refused.json()["code"]) == (409, "REVISION_CONFLICT")


@pytest.mark.one_node(because="each node learns by itself that Discord refuses everybody")
async def test_while_discord_refuses_everybody_nobody_asks(guild: Guild) -> None:
    ann = await guild.world.player("Ann")
    one, other = await network(ann), await network(ann, "Other")
    guild.site.halt(30)
    for net in (one, other):
        assert (await put(net, webhookUrl=guild.site.url(guild.webhook)))["webhookStatus"] == "unreachable"
    assert len(guild.site.asked) == 1
    guild.later(31)
    await guild.until(one, "active")
    await guild.until(other, "active")


@pytest.mark.parametrize("goes", ["owner", "network"])
async def test_an_owner_or_network_that_goes_takes_all_of_it_along(guild: Guild, goes: str) -> None:
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.halt(3600)
    await publish(net.owner, net)
    await guild.halted()
    server = await net.server()
    await push(server)
    uptime = guild.world.service.of(WEBHOOKS).uptime
    assert (uptime.networks(), len(uptime)) == ((net.id,), 1)
    if goes == "owner":
        root = await guild.world.super_admin()
        await root.do("DELETE", f"/v1/admin/users/{net.owner.id}")
    else:
        await net.owner.do("DELETE", server.path, status=204)
        await net.owner.do("DELETE", net.path, status=204)

    async def forgotten() -> bool:
        return (uptime.networks(), len(uptime)) == ((), 0)

    await wait_until(forgotten)
    assert await queue(guild.world, net.id) == []
    guild.later(3700)
    assert guild.webhook.posts == []


async def test_a_network_goes_while_its_posts_are_sent(guild: Guild) -> None:
    """Both lock the settings before the posts, also those about a publication that goes on as its address alone."""
    net = await guild.network(await guild.world.player("Ann"))
    guild.site.halt(3600)
    made = await publish(net.owner, net)
    await net.owner.do("POST", "/v1/profile/public-servers/saved", {"serverId": made["id"]}, status=201)
    await guild.halted()
    assert await queue(guild.world, net.id)

    async def claim(conn: Connection) -> None:
        assert await webhooks.lock(conn, net.id) is not None

    async def drop(conn: Connection) -> None:
        await outbox.drop_all(conn, net.id)

    await crossed(guild.world.service.database, claim, drop, partial(_remove, net))
    assert await queue(guild.world, net.id) == []


async def test_a_network_goes_while_its_news_are_written(guild: Guild) -> None:
    """Both hold the network before its settings."""
    net = await guild.network(await guild.world.player("Ann"))

    async def hold(conn: Connection) -> None:
        assert await articles.hold_scope(conn, Scope("network", net.id))

    async def lock(conn: Connection) -> None:
        assert await webhooks.lock(conn, net.id) is not None

    await crossed(guild.world.service.database, hold, lock, partial(_remove, net))


async def _remove(net: Net) -> None:
    await net.owner.do("DELETE", net.path, status=204)
