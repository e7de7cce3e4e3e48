"""What is asked for at each route of Connect, such that whoever may have it gets it: the rows of `matrix.csv`."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from scripts.upstreams.discord import GUILD
from tests.connect.play import SERVERS, register
from tests.connect.scene import CATALOG, Scene
from tests.gateways.play import GATEWAYS, REGISTER, ROUTES, gateway, identity
from tests.networks.cloudflare import CANARY, ZONE
from tests.networks.play import NETWORKS

Wish: TypeAlias = tuple[str, Any]
"""A path, and a body or None."""

Target: TypeAlias = Callable[[Scene], Coroutine[Any, Any, Wish]]

TARGETS: dict[str, Target] = {}
"""{method and path as declared: what to ask for, made afresh}."""

ONE = f"{SERVERS}/{{serverId}}"
NET = f"{NETWORKS}/{{networkId}}"
OFFERS = "/v1/connect/server-invites"
PUBLISHED = "/v1/connect/publications/{targetType}/{targetId}"
PUBLICATIONS = "/v1/admin/connect/publications"
PUBLICATION = {"address": "play.example.org", "displayName": "Sky Islands"}

_FIXED: dict[str, Any] = {
    f"POST {SERVERS}/register": {"serverType": "paper", "serverName": "New"},
    f"GET {SERVERS}": None,
    "GET /v1/connect/sessions": None,
    f"PATCH {ONE}": {"isTemplate": True},
    f"DELETE {ONE}": None,
    f"GET {ONE}/claim-key": None,
    f"POST {ONE}/secret/rotate": None,
    f"POST {ONE}/join-tickets": None,
    f"POST {ONE}/tokens": {"scopes": ["server.settings.read"]},
    f"POST {ONE}/commands": {"action": "restart"},
    f"GET {ONE}/commands": None,
    f"GET {ONE}/settings": None,
    f"PUT {ONE}/settings": {"data": {"motd": "hello"}},
    f"GET {ONE}/settings/history": None,
    f"GET {ONE}/stream": None,
    f"GET {ONE}/extensions": None,
    f"GET {ONE}/members": None,
    f"GET {ONE}/access-policy": None,
    f"PATCH {ONE}/access-policy": {"accessMode": "network"},
    f"GET {ONE}/invites": None,
    f"GET {OFFERS}": None,
    f"PUT {ONE}/publication/status": {"online": True, "playerCount": 1, "playerCapacity": 20},
    f"GET {PUBLISHED}": None,
    f"PUT {PUBLISHED}": PUBLICATION,
    "GET /v1/profile/servers": None,
    "GET /v1/public/servers": None,
    f"GET {CATALOG}": None,
    f"POST {REGISTER}": identity(),
    f"GET {ONE}/gateways": None,
    "GET /v1/admin/connect/servers": None,
    f"GET {PUBLICATIONS}": None,
    f"GET {GATEWAYS}": None,
    f"GET {ROUTES}": None,
    f"GET {NETWORKS}": None,
    f"POST {NETWORKS}": {"name": "New"},
    f"PATCH {NET}": {"publicSummary": "ours"},
    f"POST {NET}/join-token": None,
    "GET /v1/connect/hosts": None,
    f"GET {NET}/domains": None,
    f"GET {NET}/dns/cloudflare": None,
    f"PUT {NET}/dns/cloudflare": {"apiToken": CANARY, "zoneId": ZONE},
    f"DELETE {NET}/dns/cloudflare": None,
    f"GET {NET}/discord": None,
    f"PUT {NET}/discord": {"guildId": GUILD, "events": ["member_joined"]},
    f"DELETE {NET}/discord": None,
}
"""Those whose body is always the same."""


def _target(row: str) -> Callable[[Target], Target]:
    def keep(target: Target) -> Target:
        TARGETS[row] = target
        return target

    return keep


def _fixed(row: str, body: Any) -> Target:
    path = row.partition(" ")[2]

    async def target(scene: Scene) -> Wish:
        ids = {"serverId": scene.server.id, "networkId": scene.net.id}
        return path.format(**ids, targetType="server", targetId=scene.server.id), body

    return target


TARGETS.update({row: _fixed(row, body) for row, body in _FIXED.items()})


@_target(f"POST {SERVERS}/claim")
async def _claim(scene: Scene) -> Wish:
    fresh = await register(scene.world)
    return f"{SERVERS}/claim", {"claimKey": fresh.claim_key}


@_target(f"POST {ONE}/permission-tokens")
async def _permission_token(scene: Scene) -> Wish:
    await scene.server.seat(scene.people.player)
    return f"{scene.server.path}/permission-tokens", {"userId": scene.people.player.id}


@_target(f"POST {ONE}/sessions")
async def _session(scene: Scene) -> Wish:
    made = await scene.people.player.do("POST", f"{scene.server.path}/join-tickets", status=201)
    return f"{scene.server.path}/sessions", {"ticket": made["ticket"]}


@_target(f"DELETE {ONE}/sessions/{{sessionId}}")
async def _ended_session(scene: Scene) -> Wish:
    session = await scene.server.seat(scene.people.player)
    return f"{scene.server.path}/sessions/{session['sessionId']}", None


@_target(f"PUT {ONE}/gateway-route")
async def _route(scene: Scene) -> Wish:
    host = f"{scene.server.id}.play.partyline.test"
    body = {"routeHost": host, "backendHost": "10.0.0.5", "backendPort": 25565, "proxyProtocol": False}
    return f"{scene.server.path}/gateway-route", body


@_target(f"DELETE {ONE}/gateway-route")
async def _removed_route(scene: Scene) -> Wish:
    path, body = await _route(scene)
    await scene.server.do("PUT", path, body, status=200)
    return path, None


async def _given(scene: Scene) -> str:
    path = f"{scene.server.path}/commands"
    made = await scene.people.owner.do("POST", path, {"action": "restart"}, status=201)
    return f"{path}/{made['command']['id']}"


@_target(f"POST {ONE}/commands/{{commandId}}/ack")
async def _ack(scene: Scene) -> Wish:
    return f"{await _given(scene)}/ack", {"status": "success"}


@_target(f"DELETE {ONE}/commands/{{commandId}}")
async def _cancelled(scene: Scene) -> Wish:
    return await _given(scene), None


@_target(f"POST {CATALOG}")
async def _extension(scene: Scene) -> Wish:
    return CATALOG, {"extensionId": f"new-{scene.new_id()}", "name": "New"}


@_target(f"PUT {CATALOG}/{{extensionId}}")
async def _changed_extension(scene: Scene) -> Wish:
    return f"{CATALOG}/{scene.extension}", {"description": "better"}


@_target(f"PUT {ONE}/extensions/{{extensionId}}")
async def _registered(scene: Scene) -> Wish:
    return f"{scene.server.path}/extensions/{scene.extension}", {"actions": []}


@_target(f"PATCH {PUBLICATIONS}/{{id}}")
async def _judged(scene: Scene) -> Wish:
    path = PUBLISHED.format(targetType="server", targetId=scene.server.id)
    made = await scene.people.owner.do("PUT", path, PUBLICATION, status=200)
    return f"{PUBLICATIONS}/{made['publication']['id']}", {"featured": True}


@_target(f"POST {NETWORKS}/join")
async def _joined(scene: Scene) -> Wish:
    return f"{NETWORKS}/join", {"joinToken": await scene.net.token(), "name": "Node"}


@_target(f"POST {NET}/domains")
async def _domain(scene: Scene) -> Wish:
    return scene.net.domains, {"domain": f"{scene.new_id()}.example.org"}


@_target(f"POST {NET}/domains/{{domainId}}/verify")
async def _verified(scene: Scene) -> Wish:
    claim = await scene.net.claim(f"{scene.new_id()}.example.net")
    scene.place.dns.txt[claim["txt"]["name"]] = [claim["txt"]["value"]]
    return scene.net.verify(claim), None


@_target(f"PUT {ONE}/members/{{userId}}")
async def _member(scene: Scene) -> Wish:
    guest = await scene.world.player("Guest")
    return f"{scene.server.path}/members/{guest.id}", {"role": "viewer"}


@_target(f"DELETE {ONE}/members/{{userId}}")
async def _removed_member(scene: Scene) -> Wish:
    path, body = await _member(scene)
    await scene.people.owner.do("PUT", path, body, status=200)
    return path, None


@_target(f"POST {ONE}/invites")
async def _invite(scene: Scene) -> Wish:
    guest = await scene.world.player("Guest")
    return f"{scene.server.path}/invites", {"inviteeUserId": guest.id, "role": "viewer"}


@_target(f"DELETE {ONE}/invites/{{inviteId}}")
async def _revoked(scene: Scene) -> Wish:
    return f"{scene.server.path}/invites/{await scene.invite(await scene.world.player('Guest'))}", None


@_target(f"POST {OFFERS}/{{inviteId}}/accept")
async def _accepted(scene: Scene) -> Wish:
    invitee = scene.people.invitee
    removed = await scene.people.owner.ask("DELETE", f"{scene.server.path}/members/{invitee.id}")
    if removed.status_code == 204:
        scene.invitation = await scene.invite(invitee)
    return f"{OFFERS}/{scene.invitation}/accept", None


@_target(f"POST {OFFERS}/{{inviteId}}/decline")
async def _declined(scene: Scene) -> Wish:
    return f"{OFFERS}/{scene.invitation}/decline", None


@_target(f"GET {ONE}/access")
async def _access(scene: Scene) -> Wish:
    return f"{scene.server.path}/access?userId={scene.people.player.id}", None


async def _published(scene: Scene) -> Any:
    path = PUBLISHED.format(targetType="server", targetId=scene.server.id)
    return await scene.people.owner.do("PUT", path, PUBLICATION, status=200)


@_target(f"DELETE {PUBLISHED}")
async def _withdrawn(scene: Scene) -> Wish:
    await _published(scene)
    return PUBLISHED.format(targetType="server", targetId=scene.server.id), None


@_target("GET /v1/public/servers/{id}")
async def _listed(scene: Scene) -> Wish:
    return f"/v1/public/servers/{(await _published(scene))['publication']['id']}", None


@_target("GET /v1/public/connect/slugs/{slug}")
async def _page(scene: Scene) -> Wish:
    slug = scene.new_id()[-12:]
    await scene.net.owner.do("PATCH", scene.net.path, {"slug": slug}, status=200)
    return f"/v1/public/connect/slugs/{slug}", None


@_target("POST /v1/connect/gateways/{gatewayId}/heartbeat")
async def _heartbeat(scene: Scene) -> Wish:
    return (await gateway(scene.world)).path, {"connections": 0, "routesRevision": 0}


@_target(f"PATCH {GATEWAYS}/{{gatewayId}}")
async def _gateway(scene: Scene) -> Wish:
    return f"{GATEWAYS}/{(await gateway(scene.world)).id}", {"capacity": 7}
