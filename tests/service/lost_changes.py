"""Changes whose COMMIT loses its answer, one for each sort in each domain that has rows."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from routes.voice.parts import ATTENDANCE
from scripts.upstreams.discord import GUILD
from tests.banners.play import BANNERS
from tests.capes.stage import OWN as CAPES
from tests.capes.stage import texture
from tests.connect.play import claimed
from tests.gateways.play import stored_gateway
from tests.news.play import POLL, editor, network, write
from tests.notifications.play import LIST, READ, notify
from tests.publications.play import path_of, publish
from tests.saved_servers.play import SAVED
from tests.services.play import SERVICES, extension
from tests.shop.play import A_PRODUCT, ALL_PURCHASES, CHECKOUT, PRODUCTS, may, open_shop
from tests.support.world import CONVERSATIONS, Player, World
from tests.totems.models import body as totem_body
from tests.totems.play import OWN as TOTEM
from tests.users.play import PROFILE, SHARES
from tests.versions.play import CHANNELS, RELEASES, SCOPE, a_publisher, resolved
from tests.voice.play import NODE, NODES, minding, node, node_server, private

MARK = "of-unknown-outcome"
"""What the transaction of the change sends, and no other."""


@dataclass(frozen=True)
class Lost:
    """A request whose outcome is to be unknown.

    Args:
        caller, method, path, body: the request.
        made: how many of what it makes a reader finds.
        said: what its transaction sends before COMMIT.
        before: how many there were.
    """

    caller: Player
    method: str
    path: str
    body: object
    made: Callable[[], Awaitable[int]]
    said: bytes = MARK.encode()
    before: int = 0


def _counted(reader: Player, path: str) -> Callable[[], Awaitable[int]]:
    """How many are in the first list of an answer."""

    async def made() -> int:
        answer = await reader.get(path)
        return len(next(value for value in answer.values() if isinstance(value, list)))

    return made


async def a_share(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", SHARES, {**PROFILE, "name": MARK}, _counted(ann, SHARES))


async def a_role(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def made() -> int:
        return int((await ann.ask("GET", "/v1/admin/reports")).status_code == 200)

    path = f"/v1/admin/users/{ann.id}/roles/moderator"
    return Lost(root, "PUT", path, {}, made, said=b"role.added")


async def a_saved_server(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", SAVED, {"address": f"{MARK}.example.org"}, _counted(ann, SAVED))


async def a_cape(world: World) -> Lost:
    ann = await world.player("Ann")
    body = {"name": MARK, "description": "", "texture": texture()}
    return Lost(ann, "POST", CAPES, body, _counted(ann, CAPES))


async def a_banner(world: World) -> Lost:
    ann = await world.player("Ann")
    return Lost(ann, "POST", BANNERS, {"name": MARK, "baseColor": "red"}, _counted(ann, BANNERS))


async def notifications_read(world: World) -> Lost:
    ann = await world.player("Ann")
    ids = await notify(world, ann, 1)

    async def made() -> int:
        return sum(one["readAt"] is not None for one in (await ann.get(LIST))["items"])

    return Lost(ann, "POST", READ, {"ids": ids}, made, said=b"UPDATE notifications SET read")


async def a_report(world: World) -> Lost:
    root = await world.super_admin()
    ann, ben = await world.players("Ann", "Ben")
    body = {"targetId": ben.id, "reason": MARK}
    return Lost(ann, "POST", "/v1/social/friends/reports", body, _counted(root, "/v1/admin/reports"))


async def a_note(world: World) -> Lost:
    mona, ann = await world.ranked("Mona", "moderator"), await world.player("Ann")
    path = f"/v1/admin/users/{ann.id}/notes"
    return Lost(mona, "POST", path, {"text": MARK}, _counted(mona, path))


async def a_vote(world: World) -> Lost:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    poll = {"question": "When?", "options": [{"label": "now"}, {"label": "later"}]}
    sent = await ann.say(room, "", poll=poll)

    async def made() -> int:
        return (await ann.get(room.messages))["items"][0]["poll"]["totalVoters"]

    path = f"{room.message(sent['id'])}/poll/vote"
    chosen = {"optionIds": [sent["poll"]["options"][0]["id"]]}
    return Lost(ben, "POST", path, chosen, made, said=sent["id"].encode())


async def a_group(world: World) -> Lost:
    ann, ben = await world.players("Ann", "Ben")
    body = {"kind": "group", "participantIds": [ben.id], "title": MARK}
    return Lost(ann, "POST", CONVERSATIONS, body, _counted(ben, CONVERSATIONS))


async def settings_of_a_server(world: World) -> Lost:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/settings"

    async def made() -> int:
        return (await ann.get(path, source="shop"))["version"]

    return Lost(ann, "PUT", path, {"source": "shop", "data": {"motd": MARK}}, made)


async def a_publication(world: World) -> Lost:
    ann = await world.player("Ann")
    server = await claimed(world, ann)
    await publish(ann, server)

    async def made() -> int:
        return int((await ann.get(path_of(server)))["publication"]["displayName"] == MARK)

    body = {"address": "play.example.org", "displayName": MARK}
    return Lost(ann, "PUT", path_of(server), body, made)


async def a_judgement(world: World) -> Lost:
    admin, ann = await world.ranked("Adam", "admin"), await world.player("Ann")
    id = (await publish(ann, await claimed(world, ann)))["id"]
    path = "/v1/admin/connect/publications"
    body = {"suppressed": True, "reason": MARK}
    return Lost(admin, "PATCH", f"{path}/{id}", body, _counted(admin, f"{path}?state=SUPPRESSED"))


async def a_network(world: World) -> Lost:
    ann = await world.player("Ann")
    path = "/v1/connect/networks"
    return Lost(ann, "POST", path, {"name": MARK}, _counted(ann, path))


async def a_webhook_of_discord(world: World) -> Lost:
    ann = await world.player("Ann")
    path = f"/v1/connect/networks/{(await network(ann))['id']}/discord"

    async def made() -> int:
        return int((await ann.get(path))["discord"] is not None)

    body = {"guildId": GUILD, "events": ["server_online"], "inviteUrl": f"https://discord.gg/{MARK}"}
    return Lost(ann, "PUT", path, body, made)


async def a_totem(world: World) -> Lost:
    ann = await world.player("Ann")
    history = _counted(ann, f"{TOTEM}/history")
    return Lost(ann, "POST", TOTEM, totem_body(), history, said=b"INSERT INTO totem")


async def a_performance_report(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")
    made = _counted(root, "/v1/admin/launcher/performance-reports")
    return Lost(ann, "POST", "/v1/launcher/performance-reports", {"launcherVersion": MARK}, made)


async def an_allowlist(world: World) -> Lost:
    root, ann = await world.super_admin(), await world.player("Ann")
    host = f"{MARK}.example.org"

    async def made() -> int:
        return (await ann.get("/v1/public/launcher/network-guard-allowlist"))["hosts"].count(host)

    return Lost(root, "PUT", "/v1/admin/launcher/network-guard-allowlist", {"hosts": [host]}, made)


async def a_checkout(world: World) -> Lost:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product(amount=0, limit=5)
    body = {"items": [{"productId": product["id"], "quantity": 5}]}

    async def made() -> int:
        return int(await may(ann, "perk:glow"))

    return Lost(ann, "POST", CHECKOUT, body, made, said=b"INSERT INTO shop_entitlements")


async def a_purchase_marked_as_paid(world: World) -> Lost:
    shop, ann = await open_shop(world), await world.player("Ann")
    order = await shop.order(ann, await shop.product())

    async def made() -> int:
        return int(await may(ann, "perk:glow"))

    path = f"{ALL_PURCHASES}/{order['purchases'][0]['id']}/mark-paid"
    return Lost(shop.manager, "POST", path, {"note": MARK}, made)


async def a_product(world: World) -> Lost:
    shop = await open_shop(world)
    return Lost(shop.manager, "POST", PRODUCTS, A_PRODUCT | {"name": MARK}, _counted(shop.manager, PRODUCTS))


async def a_release(world: World) -> Lost:
    publisher = await a_publisher(world)
    body = {"scope": SCOPE, "version": "1.0.0", "notes": MARK}
    return Lost(publisher.player, "POST", RELEASES, body, _counted(publisher.player, RELEASES))


async def an_activation(world: World) -> Lost:
    publisher = await a_publisher(world)
    await publisher.published("1.0.0")
    release = await publisher.release("1.1.0")

    async def made() -> int:
        return int((await resolved(world))["targetVersion"] == "1.1.0")

    body = {
        "scopeType": "launcher", "scopeId": "main", "channel": "stable", "releaseId": release["releaseId"],
    }  # fmt: skip
    return Lost(publisher.player, "POST", CHANNELS, body, made, said=release["releaseId"].encode())


async def an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    body = {"scope": {"type": "global"}, "title": MARK, "body": "text", "status": "published"}
    return Lost(ed, "POST", "/v1/news", body, _counted(ann, "/v1/news"))


async def a_change_of_an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    made = await write(ed, status="draft")
    body = {"title": MARK, "status": "published"}
    return Lost(ed, "PATCH", f"/v1/news/{made['id']}", body, _counted(ann, "/v1/news"))


async def follows_of_news(world: World) -> Lost:
    ann = await world.player("Ann")
    body = {"items": [{"type": "category", "id": MARK}]}
    return Lost(ann, "PUT", "/v1/news/follows", body, _counted(ann, "/v1/news/follows"))


async def a_vote_in_an_article(world: World) -> Lost:
    ann, ed = await world.player("Ann"), await editor(world)
    made = await write(ed, poll=POLL)

    async def voters() -> int:
        return (await ed.get(f"/v1/news/{made['id']}"))["poll"]["totalVoters"]

    path = f"/v1/news/{made['id']}/poll/vote"
    return Lost(ann, "POST", path, {"optionIds": ["1"]}, voters, said=b"INSERT INTO news_votes")


async def a_reroll(world: World) -> Lost:
    ann = await world.player("Ann")
    path = "/v1/quests/daily-games"
    before = {quest["id"] for quest in (await ann.get(path))["quests"]}

    async def made() -> int:
        return len({quest["id"] for quest in (await ann.get(path))["quests"]} - before) // len(before)

    return Lost(ann, "POST", f"{path}/reroll", {}, made, said=b"UPDATE quest_days")


async def a_drained_gateway(world: World) -> Lost:
    admin, path = await world.ranked("Adam", "admin"), "/v1/admin/connect/gateways"
    id = await stored_gateway(world)
    body = {"status": "draining", "region": MARK}
    return Lost(admin, "PATCH", f"{path}/{id}", body, _counted(admin, f"{path}?status=draining"))


async def a_voice_node(world: World) -> Lost:
    server, moderator = await node_server(world), await world.ranked("Mod", "moderator")
    return Lost(
        server, "POST", f"{NODES}/register", NODE, _counted(moderator, NODES), said=b"INSERT INTO voice_nodes"
    )


async def a_voice_channel(world: World) -> Lost:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    path = "/v1/social/voice/channels/private"

    async def made() -> int:
        return int(minding(world).of(ATTENDANCE).of_pair(ann.id, ben.id) is not None)

    return Lost(ann, "POST", path, {"targetId": ben.id}, made, said=b"INSERT INTO voice_channels")


async def a_voice_session(world: World) -> Lost:
    await node(world, await node_server(world))
    ann, ben = await world.players("Ann", "Ben")
    channel_id = await private(ann, ben)
    body = {"channelId": channel_id}

    async def made() -> int:
        return int(minding(world).of(ATTENDANCE).of_user(ann.id) is not None)

    return Lost(ann, "POST", "/v1/social/voice/session/join", body, made, said=b"INSERT INTO voice_sessions")


async def a_service(world: World) -> Lost:
    ann = await world.player("Ann")
    await extension(ann, "board")
    body = {"name": MARK, "extensionId": "board"}
    return Lost(ann, "POST", SERVICES, body, _counted(ann, SERVICES), said=b"INSERT INTO services")
