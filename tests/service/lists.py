"""Every list in pages, by its path: what is in it, who walks it, and how something goes."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from tests.banners.play import BANNERS, DESIGN
from tests.connect.play import claimed
from tests.gateways.play import GATEWAYS, ROUTES, gateway, put_route
from tests.news import play as news
from tests.notifications.play import LIST as NOTIFICATIONS
from tests.notifications.play import notify
from tests.publications.play import PUBLIC as SERVERS
from tests.publications.play import path_of, publish
from tests.service.walked import Walked, asked, patched, posted, swept
from tests.services.play import SERVICES, extension, service
from tests.shop.play import ALL_PURCHASES, PRODUCTS, PURCHASES, open_shop
from tests.support.jobs import jobs_of
from tests.support.world import CONVERSATIONS, World
from tests.users.play import PROFILE, SHARES, one
from tests.versions.play import EVENTS, RELEASES, TOLD, a_publisher
from tests.voice.play import NODES, node, node_server

SORTS = ("players", "newest", "name")

Scene = Callable[[World], Awaitable[Walked]]
SCENES: dict[str, Scene] = {}


def scene(path: str) -> Callable[[Scene], Scene]:
    """Lists what is walked at a path; behind a space or a question mark stands how."""

    def listed(made: Scene) -> Scene:
        SCENES[path] = made
        return made

    return listed


@scene("/v1/admin/users")
async def users(world: World) -> Walked:
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await world.player(f"Same{number % 2}")).id

    return Walked(root, "/v1/admin/users?query=same", "userId", make, asked(root, "/v1/admin/users/{}"))


@scene("/v1/admin/audit")
async def audit(world: World) -> Walked:
    root, ann = await world.super_admin(), await world.player("Ann")

    async def make(number: int) -> str:
        await root.do("POST", f"{one(ann)}/permissions", {"node": f"perk:{number}"})
        return str((await root.get("/v1/admin/audit", limit=1))["items"][0]["id"])

    return Walked(root, "/v1/admin/audit", "id", make, swept(world, "audit_log"))


@scene("/v1/admin/users/{userId}/notes")
async def notes(world: World) -> Walked:
    mod, ann = await world.ranked("Mod", "moderator"), await world.player("Ann")
    path = f"{one(ann)}/notes"

    make = posted(mod, path, "id", {"text": "Loud."})
    return Walked(mod, path, "id", make, swept(world, "moderator_notes"))


@scene("/v1/admin/reports")
async def reports(world: World) -> Walked:
    mod, ann = await world.ranked("Mod", "moderator"), await world.player("Ann")

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        return str((await ann.do("POST", "/v1/social/friends/reports", {"targetId": other.id}))["id"])

    settle = patched(mod, "/v1/admin/reports/{}", status="actioned")
    return Walked(mod, "/v1/admin/reports?status=open", "id", make, settle)


@scene("/v1/admin/launcher/performance-reports")
async def performance_reports(world: World) -> Walked:
    root = await world.super_admin()
    path = "/v1/admin/launcher/performance-reports"
    make = posted(root, "/v1/launcher/performance-reports", "id", {})
    return Walked(root, path, "id", make, swept(world, "performance_reports"))


@scene("/v1/notifications")
async def notifications(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return (await notify(world, ann, number))[0]

    return Walked(ann, NOTIFICATIONS, "id", make, swept(world, "notifications"))


@scene("/v1/versions/releases")
async def releases(world: World) -> Walked:
    pia = await a_publisher(world)

    async def make(number: int) -> str:
        return str((await pia.release(f"1.0.{number}"))["releaseId"])

    return Walked(pia.player, RELEASES, "releaseId", make, asked(pia.player, RELEASES + "/{}"))


@scene("/v1/admin/shop/products")
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


@scene("/v1/profile/build-moe/banners")
async def banners(world: World) -> Walked:
    ann = await world.player("Ann")
    return Walked(ann, BANNERS, "id", posted(ann, BANNERS, "id", DESIGN), asked(ann, BANNERS + "/{}"))


@scene("/v1/profile/shares")
async def shares(world: World) -> Walked:
    ann = await world.player("Ann")
    await world.grant(ann, "profile-share.max", value=60)
    return Walked(ann, SHARES, "code", posted(ann, SHARES, "code", PROFILE), asked(ann, SHARES + "/{}"))


@scene("/v1/services")
async def services(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return str((await service(ann, await extension(ann, f"e{number}")))["serviceId"])

    return Walked(ann, SERVICES, "serviceId", make, asked(ann, SERVICES + "/{}"))


@scene("/v1/social/voice/nodes")
async def voice_nodes(world: World) -> Walked:
    mod, server = await world.ranked("Mod", "moderator"), await node_server(world)

    async def make(number: int) -> str:
        return (await node(world, server, publicUrl=f"wss://voice{number}.example.net/rtc")).id

    return Walked(mod, NODES, "nodeId", make, asked(server, NODES + "/{}"))


@scene("/v1/social/friends/blocks")
async def blocks(world: World) -> Walked:
    ann = await world.player("Ann")
    path = "/v1/social/friends/blocks"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("POST", path, {"targetId": other.id})
        return other.id

    return Walked(ann, path, "blockedUserId", make, asked(ann, path + "/{}"))


@scene("/v1/social/chat/conversations")
async def conversations(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        return (await ann.talk_to(ben, await world.player(f"P{number}"))).id

    return Walked(ann, CONVERSATIONS, "id", make, asked(ann, f"{CONVERSATIONS}/{{}}/participants/{ann.id}"))


@scene("/v1/social/chat/conversations in memory")
async def conversations_in_memory(world: World) -> Walked:
    """An open socket keeps the inbox there, which answers."""
    walked = await conversations(world)
    return replace(walked, watching=lambda: walked.asker.live("/v1/social/chat/live"), ties=False)


@scene("/v1/social/chat/conversations/{conversationId}/participants")
async def participants(world: World) -> Walked:
    ann, *others = await world.players("Ann", "Ben", "Cat")
    path = f"{CONVERSATIONS}/{(await ann.talk_to(*others)).id}/participants"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("POST", path, {"userIds": [other.id]})
        return other.id

    return Walked(others[0], path, "id", make, asked(ann, path + "/{}"))


@scene("/v1/connect/servers/{serverId}/commands")
async def commands(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/commands"

    async def make(_number: int) -> str:
        made = await ann.do("POST", path, {"action": "restart"}, status=201)
        await ann.do("DELETE", f"{path}/{made['command']['id']}")
        return str(made["command"]["id"])

    return Walked(ann, path, "id", make, swept(world, "connect_commands"))


@scene("/v1/connect/servers/{serverId}/settings/history")
async def settings(world: World) -> Walked:
    ann = await world.player("Ann")
    server = await claimed(world, ann)

    async def make(number: int) -> str:
        made = await ann.do("PUT", f"{server.path}/settings", {"source": "connect", "data": {"n": number}})
        return str(made["version"])

    history = f"{server.path}/settings/history"
    return Walked(ann, history, "version", make, swept(world, "connect_settings_history", "version"))


@scene("/v1/connect/extensions")
async def extensions(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return await extension(ann, f"e{number % 3}-{number}")

    path = "/v1/connect/extensions"
    return Walked(ann, path, "extensionId", make, swept(world, "connect_extensions", "extension_id"))


@scene("/v1/connect/servers/{serverId}/extensions")
async def extensions_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/extensions"

    async def make(number: int) -> str:
        id = await extension(ann, f"e{number % 3}-{number}")
        await ann.do("PUT", f"{path}/{id}", {})
        return id

    return Walked(ann, path, "extensionId", make, swept(world, "connect_registrations", "extension_id"))


@scene("/v1/connect/servers/{serverId}/members")
async def members_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/members"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("PUT", f"{path}/{other.id}", {"role": "viewer"})
        return other.id

    return Walked(ann, path, "userId", make, asked(ann, path + "/{}"))


@scene("/v1/connect/servers/{serverId}/invites")
async def invites_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/invites"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        return str((await ann.do("POST", path, {"inviteeUserId": other.id, "role": "viewer"}))["id"])

    return Walked(ann, path, "id", make, swept(world, "connect_invites"))


@scene("/v1/connect/server-invites")
async def offers(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        server = await claimed(world, ann, f"S{number}")
        body = {"inviteeUserId": ben.id, "role": "admin"}
        return str((await ann.do("POST", f"{server.path}/invites", body))["id"])

    return Walked(ben, "/v1/connect/server-invites", "id", make, swept(world, "connect_invites"))


@scene("/v1/connect/sessions")
async def player_sessions(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        return str((await (await claimed(world, ann, f"S{number}")).seat(ben))["sessionId"])

    return Walked(ben, "/v1/connect/sessions", "sessionId", make, swept(world, "connect_sessions"))


@scene("/v1/admin/connect/servers")
async def all_servers(world: World) -> Walked:
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await claimed(world, root, ("Same", "SAME", "same")[number % 3])).id

    return Walked(root, "/v1/admin/connect/servers", "serverId", make, asked(root, "/v1/connect/servers/{}"))


@scene("/v1/versions/events")
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


@scene(GATEWAYS)
async def gateways(world: World) -> Walked:
    """Those that go are hidden by the filter."""
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await gateway(world, f"gw{number}.example.net")).id

    drain = patched(root, GATEWAYS + "/{}", draining=True)
    return Walked(root, f"{GATEWAYS}?status=online", "gatewayId", make, drain)


@scene(ROUTES)
async def gateway_routes(world: World) -> Walked:
    root, servers = await world.super_admin(), {}

    async def make(number: int) -> str:
        host = f"{number}.play.partyline.test"
        servers[host] = await claimed(world, root, f"S{number}")
        await put_route(servers[host], host)
        return host

    async def remove(name: str) -> None:
        await servers[name].do("DELETE", f"{servers[name].path}/gateway-route")

    return Walked(root, ROUTES, "routeHost", make, remove)


async def _publications(world: World, path: str) -> Walked:
    root = await world.super_admin()
    paths: dict[str, str] = {}

    async def make(number: int) -> str:
        server = await claimed(world, root, f"S{number}")
        made = await publish(root, server, displayName=("Same", "SAME", "A")[number % 3])
        paths[made["id"]] = path_of(server)
        return str(made["id"])

    async def remove(name: str) -> None:
        await root.do("DELETE", paths[name])

    return Walked(root, path, "id", make, remove)


async def _news(world: World, path: str) -> Walked:
    ed = await news.editor(world)

    async def make(number: int) -> str:
        return str((await news.write(ed, pinned=number % 4 == 0))["id"])

    return Walked(ed, path, "id", make, patched(ed, news.NEWS + "/{}", status="archived"))


SCENES |= {
    PURCHASES: partial(_purchases, path=PURCHASES, own=True),
    ALL_PURCHASES: partial(_purchases, path=ALL_PURCHASES, own=False),
    **{
        path: partial(_publications, path=path)
        for path in ("/v1/admin/connect/publications", *(f"{SERVERS}?sort={sort}" for sort in SORTS))
    },
    **{
        path: partial(_news, path=path)
        for path in (news.NEWS, f"{news.NEWS}?scopeType=global", news.FEED, news.PUBLIC)
    },
}
