"""Every list in pages but those about game servers, by its path: what is in it, who walks it, how something goes."""

from dataclasses import replace
from functools import partial

from tests.banners.play import BANNERS, DESIGN
from tests.news import play as news
from tests.notifications.play import LIST as NOTIFICATIONS
from tests.notifications.play import notify
from tests.service.scenes import Scenes
from tests.service.walked import Walked, asked, patched, posted, swept
from tests.services.play import SERVICES, extension, service
from tests.shop.play import ALL_PURCHASES, PRODUCTS, PURCHASES, open_shop
from tests.support.jobs import jobs_of
from tests.support.world import CONVERSATIONS, World
from tests.users.play import PROFILE, SHARES, one
from tests.versions.play import EVENTS, RELEASES, TOLD, a_publisher
from tests.voice.play import NODES, node, node_server

PLAYERS = Scenes()


@PLAYERS.at("/v1/admin/users")
async def users(world: World) -> Walked:
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await world.player(f"Same{number % 2}")).id

    return Walked(root, "/v1/admin/users?query=same", "userId", make, asked(root, "/v1/admin/users/{}"))


@PLAYERS.at("/v1/admin/audit")
async def audit(world: World) -> Walked:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def make(number: int) -> str:
        await root.do("POST", f"{one(ann)}/permissions", {"node": f"perk:{number}"})
        return str((await root.get("/v1/admin/audit", limit=1))["items"][0]["id"])

    return Walked(root, "/v1/admin/audit", "id", make, swept(world, "audit_log"))


@PLAYERS.at("/v1/admin/users/{userId}/notes")
async def notes(world: World) -> Walked:
    mod, ann = await world.ranked("Mod", "moderator"), await world.player("Ann")
    path = f"{one(ann)}/notes"

    make = posted(mod, path, "id", {"text": "Loud."})
    return Walked(mod, path, "id", make, swept(world, "moderator_notes"))


@PLAYERS.at("/v1/admin/reports")
async def reports(world: World) -> Walked:
    mod, ann = await world.ranked("Mod", "moderator"), await world.player("Ann")

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        return str((await ann.do("POST", "/v1/social/friends/reports", {"targetId": other.id}))["id"])

    settle = patched(mod, "/v1/admin/reports/{}", status="actioned")
    return Walked(mod, "/v1/admin/reports?status=open", "id", make, settle)


@PLAYERS.at("/v1/admin/launcher/performance-reports")
async def performance_reports(world: World) -> Walked:
    root = await world.super_admin()
    path = "/v1/admin/launcher/performance-reports"
    make = posted(root, "/v1/launcher/performance-reports", "id", {})
    return Walked(root, path, "id", make, swept(world, "performance_reports"))


@PLAYERS.at("/v1/notifications")
async def notifications(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return (await notify(world, ann, number))[0]

    return Walked(ann, NOTIFICATIONS, "id", make, swept(world, "notifications"))


@PLAYERS.at("/v1/versions/releases")
async def releases(world: World) -> Walked:
    pia = await a_publisher(world)

    async def make(number: int) -> str:
        return str((await pia.release(f"1.0.{number}"))["releaseId"])

    return Walked(pia.player, RELEASES, "releaseId", make, asked(pia.player, RELEASES + "/{}"))


@PLAYERS.at("/v1/admin/shop/products")
async def products(world: World) -> Walked:
    shop = await open_shop(world)

    async def make(number: int) -> str:
        return str((await shop.product(f"p-{number}"))["id"])

    return Walked(shop.manager, PRODUCTS, "id", make, swept(world, "shop_products"))


async def _purchases(world: World, path: str, *, own: bool) -> Walked:
    shop, ann = await open_shop(world), await world.player("Ann")
    product = await shop.product()

    async def make(_number: int) -> str:
        order = await shop.order(ann, product)
        await shop.paid(order["purchases"][0])
        return str(order["purchases"][0]["id"])

    return Walked(ann if own else shop.manager, path, "id", make, swept(world, "shop_purchases"))


@PLAYERS.at("/v1/profile/build-moe/banners")
async def banners(world: World) -> Walked:
    ann = await world.player("Ann")
    return Walked(ann, BANNERS, "id", posted(ann, BANNERS, "id", DESIGN), asked(ann, BANNERS + "/{}"))


@PLAYERS.at("/v1/profile/shares")
async def shares(world: World) -> Walked:
    ann = await world.player("Ann")
    await world.grant(ann, "profile-share.max", value=60)
    return Walked(ann, SHARES, "code", posted(ann, SHARES, "code", PROFILE), asked(ann, SHARES + "/{}"))


@PLAYERS.at("/v1/services")
async def services(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return str((await service(ann, await extension(ann, f"e{number}")))["serviceId"])

    return Walked(ann, SERVICES, "serviceId", make, asked(ann, SERVICES + "/{}"))


@PLAYERS.at("/v1/social/voice/nodes")
async def voice_nodes(world: World) -> Walked:
    mod, server = await world.ranked("Mod", "moderator"), await node_server(world)

    async def make(number: int) -> str:
        return (await node(world, server, publicUrl=f"wss://voice{number}.example.net/rtc")).id

    return Walked(mod, NODES, "nodeId", make, asked(server, NODES + "/{}"))


@PLAYERS.at("/v1/social/friends/blocks")
async def blocks(world: World) -> Walked:
    ann = await world.player("Ann")
    path = "/v1/social/friends/blocks"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("POST", path, {"targetId": other.id})
        return other.id

    return Walked(ann, path, "blockedUserId", make, asked(ann, path + "/{}"))


@PLAYERS.at("/v1/social/chat/conversations")
async def conversations(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        return (await ann.talk_to(ben, await world.player(f"P{number}"))).id

    return Walked(ann, CONVERSATIONS, "id", make, asked(ann, f"{CONVERSATIONS}/{{}}/participants/{ann.id}"))


@PLAYERS.at("/v1/social/chat/conversations in memory")
async def conversations_in_memory(world: World) -> Walked:
    """An open socket keeps the inbox there, which answers."""
    walked = await conversations(world)
    return replace(walked, watching=lambda: walked.asker.live("/v1/social/chat/live"), ties=False)


@PLAYERS.at("/v1/social/chat/conversations/{conversationId}/participants")
async def participants(world: World) -> Walked:
    ann, *others = await world.players("Ann", "Ben", "Cat")
    path = f"{CONVERSATIONS}/{(await ann.talk_to(*others)).id}/participants"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("POST", path, {"userIds": [other.id]})
        return other.id

    return Walked(others[0], path, "id", make, asked(ann, path + "/{}"))


@PLAYERS.at("/v1/versions/events")
async def counts(world: World) -> Walked:
    """Each node counts by itself until it writes."""
    pia = await a_publisher(world)
    jobs = [one for node in world.services for one in jobs_of(node) if one.name == "events of releases"]

    async def make(number: int) -> str:
        id = str((await pia.release(f"1.0.{number}"))["releaseId"])
        await world.nobody().do("POST", TOLD, {"event": "check", "releaseId": id, "platform": "linux"})
        for job in jobs:
            await job.run()
        return id

    return Walked(pia.player, EVENTS, "releaseId", make, swept(world, "version_counts", "release_id"))


async def _news(world: World, path: str) -> Walked:
    ed = await news.editor(world)

    async def make(number: int) -> str:
        return str((await news.write(ed, pinned=number % 4 == 0))["id"])

    return Walked(ed, path, "id", make, patched(ed, news.NEWS + "/{}", status="archived"))


PLAYERS |= {
    PURCHASES: partial(_purchases, path=PURCHASES, own=True),
    ALL_PURCHASES: partial(_purchases, path=ALL_PURCHASES, own=False),
    **{
        path: partial(_news, path=path)
        for path in (news.NEWS, f"{news.NEWS}?scopeType=global", news.FEED, news.PUBLIC)
    },
}
