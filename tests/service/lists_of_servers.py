"""Every list in pages about game servers and their gateways, by its path."""

from functools import partial

from tests.connect.play import claimed
from tests.gateways.play import GATEWAYS, ROUTES, gateway, put_route
from tests.publications.play import PUBLIC, path_of, publish
from tests.service.scenes import Scenes
from tests.service.walked import Walked, asked, patched, swept
from tests.services.play import extension
from tests.support.world import World

SERVERS = Scenes()


SORTS = ("players", "newest", "name")


@SERVERS.at("/v1/connect/servers/{serverId}/commands")
async def commands(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/commands"

    async def make(_number: int) -> str:
        made = await ann.do("POST", path, {"action": "restart"}, status=201)
        await ann.do("DELETE", f"{path}/{made['command']['id']}")
        return str(made["command"]["id"])

    return Walked(ann, path, "id", make, swept(world, "connect_commands"))


@SERVERS.at("/v1/connect/servers/{serverId}/settings/history")
async def settings(world: World) -> Walked:
    ann = await world.player("Ann")
    server = await claimed(world, ann)

    async def make(number: int) -> str:
        made = await ann.do("PUT", f"{server.path}/settings", {"source": "connect", "data": {"n": number}})
        return str(made["version"])

    history = f"{server.path}/settings/history"
    return Walked(ann, history, "version", make, swept(world, "connect_settings_history", "version"))


@SERVERS.at("/v1/connect/extensions")
async def extensions(world: World) -> Walked:
    ann = await world.player("Ann")

    async def make(number: int) -> str:
        return await extension(ann, f"e{number % 3}-{number}")

    path = "/v1/connect/extensions"
    return Walked(ann, path, "extensionId", make, swept(world, "connect_extensions", "extension_id"))


@SERVERS.at("/v1/connect/servers/{serverId}/extensions")
async def extensions_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/extensions"

    async def make(number: int) -> str:
        id = await extension(ann, f"e{number % 3}-{number}")
        await ann.do("PUT", f"{path}/{id}", {})
        return id

    return Walked(ann, path, "extensionId", make, swept(world, "connect_registrations", "extension_id"))


@SERVERS.at("/v1/connect/servers/{serverId}/members")
async def members_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/members"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        await ann.do("PUT", f"{path}/{other.id}", {"role": "viewer"})
        return other.id

    return Walked(ann, path, "userId", make, asked(ann, path + "/{}"))


@SERVERS.at("/v1/connect/servers/{serverId}/invites")
async def invites_of_a_server(world: World) -> Walked:
    ann = await world.player("Ann")
    path = f"{(await claimed(world, ann)).path}/invites"

    async def make(number: int) -> str:
        other = await world.player(f"P{number}")
        return str((await ann.do("POST", path, {"inviteeUserId": other.id, "role": "viewer"}))["id"])

    return Walked(ann, path, "id", make, swept(world, "connect_invites"))


@SERVERS.at("/v1/connect/server-invites")
async def offers(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        server = await claimed(world, ann, f"S{number}")
        body = {"inviteeUserId": ben.id, "role": "admin"}
        return str((await ann.do("POST", f"{server.path}/invites", body))["id"])

    return Walked(ben, "/v1/connect/server-invites", "id", make, swept(world, "connect_invites"))


@SERVERS.at("/v1/connect/sessions")
async def player_sessions(world: World) -> Walked:
    ann, ben = await world.players("Ann", "Ben")

    async def make(number: int) -> str:
        return str((await (await claimed(world, ann, f"S{number}")).seat(ben))["sessionId"])

    return Walked(ben, "/v1/connect/sessions", "sessionId", make, swept(world, "connect_sessions"))


@SERVERS.at("/v1/admin/connect/servers")
async def all_servers(world: World) -> Walked:
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await claimed(world, root, ("Same", "SAME", "same")[number % 3])).id

    return Walked(root, "/v1/admin/connect/servers", "serverId", make, asked(root, "/v1/connect/servers/{}"))


@SERVERS.at(GATEWAYS)
async def gateways(world: World) -> Walked:
    """Those that go are hidden by the filter."""
    root = await world.super_admin()

    async def make(number: int) -> str:
        return (await gateway(world, f"gw{number}.example.net")).id

    drain = patched(root, GATEWAYS + "/{}", draining=True)
    return Walked(root, f"{GATEWAYS}?status=online", "gatewayId", make, drain)


@SERVERS.at(ROUTES)
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


SERVERS |= {
    path: partial(_publications, path=path)
    for path in ("/v1/admin/connect/publications", *(f"{PUBLIC}?sort={sort}" for sort in SORTS))
}
