"""Game servers and what belongs to them: commands, settings, members, networks, publications, gateways, services."""

from typing import Any

from scripts.upstreams.discord import GUILD
from tests.connect.play import SERVERS, GameServer, claimed
from tests.gateways.play import GATEWAYS, ROUTES, gateway
from tests.networks.play import NETWORKS, network
from tests.process.kept.people import MOST
from tests.process.kept.stage import Stage
from tests.process.kept.writer import Deed, Stands, Writer
from tests.publications.play import PUBLIC, path_of
from tests.services.play import ACTIONS, SERVICES, extension
from tests.support.world import Player

DOMAIN = "play.partyline.test"


async def servers(stage: Stage) -> Writer:
    """One game server: commands, settings, its rules of access, tickets, secret."""
    ann, ben = await stage.players("Sven", "Sue")
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    writer = Writer("servers", stage, soft=frozenset({"lastSeenAt", "connected"}))
    for path in ("commands", "settings", "settings/history", "access-policy"):
        writer.page(ann, f"{server.path}/{path}")
    writer.page(ann, SERVERS)
    writer.page(server, f"{server.path}/settings")
    writer.page(ben, "/v1/connect/sessions")
    waiting: list[str] = []

    @writer.deed
    def order() -> Deed | None:
        if len(waiting) >= MOST:
            return None
        word = stage.word()
        then = lambda made: waiting.append(made["command"]["id"])  # noqa: E731
        body = {"action": "say", "payload": {"text": word}}
        return Deed(ann, "POST", f"{server.path}/commands", body, shows=(word,), then=then)

    @writer.deed
    def end() -> Deed | None:
        if not waiting:
            return None
        path = f"{server.path}/commands/{waiting.pop(0)}"
        if stage.rng.random() < 0.5:
            return Deed(ann, "DELETE", path)
        word = stage.word()
        return Deed(
            server, "POST", f"{path}/ack", {"status": "success", "result": {"said": word}}, shows=(word,)
        )

    @writer.deed
    def configure() -> Deed:
        word = stage.word()
        body = {"source": "connect", "data": {"motd": word}}
        return Deed(ann, "PUT", f"{server.path}/settings", body, shows=(word,))

    @writer.deed
    def open_or_close() -> Deed:
        body = {"inviteRequiresDirectFriend": writer.flip("friend")}
        return Deed(ann, "PATCH", f"{server.path}/access-policy", body)

    @writer.deed
    def template() -> Deed:
        is_template = writer.flip("template")
        return Deed(ann, "PATCH", server.path, {"isTemplate": is_template})

    @writer.deed
    def rotate() -> Deed:
        def then(made: Any) -> None:
            server.headers["authorization"] = f"Bearer {made['serverSecret']}"

        return Deed(ann, "POST", f"{server.path}/secret/rotate", then=then, keyed=False, idle=True)

    _add_seats(writer, server, ben)
    return writer


def _add_seats(writer: Writer, server: GameServer, ben: Player) -> None:
    """Who comes to play with a ticket, and goes."""
    tickets: list[str] = []
    seated: list[str] = []

    @writer.deed
    def ticket() -> Deed | None:
        if tickets or seated:
            return None
        then = lambda made: tickets.append(made["ticket"])  # noqa: E731
        return Deed(ben, "POST", f"{server.path}/join-tickets", then=then, keyed=False, idle=True)

    @writer.deed
    def seat() -> Deed | None:
        if not tickets:
            return None
        then = lambda made: seated.append(made["sessionId"])  # noqa: E731
        return Deed(server, "POST", f"{server.path}/sessions", {"ticket": tickets.pop()}, then=then)

    @writer.deed
    def unseat() -> Deed | None:
        return Deed(server, "DELETE", f"{server.path}/sessions/{seated.pop()}") if seated else None


async def members(stage: Stage) -> Writer:
    """Who belongs to a game server, and who is invited to it; servers that are claimed and let go."""
    ann, *others = await stage.players("Olga", *(f"Mem{number}" for number in range(4)))
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    writer = Writer("members", stage, soft=frozenset({"lastSeenAt", "connected"}))
    for path in ("members", "invites"):
        writer.page(ann, f"{server.path}/{path}")
    writer.page(ann, SERVERS)
    for other in others:
        writer.page(other, "/v1/connect/server-invites")
        writer.page(other, SERVERS)
    by_id = {other.id: other for other in others}
    stands = Stands(stage.rng, by_id)

    @writer.deed
    def put() -> Deed | None:
        id = stands.any("") or stands.any("member")
        if id is None:
            return None
        body = {"role": "admin" if writer.flip(id) else "viewer"}
        path = f"{server.path}/members/{id}"
        return Deed(ann, "PUT", path, body, then=stands.move(id, "member"), shows=(id,))

    @writer.deed
    def remove() -> Deed | None:
        if (id := stands.any("member")) is None:
            return None
        return Deed(ann, "DELETE", f"{server.path}/members/{id}", then=stands.move(id, ""))

    @writer.deed
    def invite() -> Deed | None:
        if (id := stands.any("")) is None:
            return None
        word = stage.word()
        then = lambda made: stands.of.update({id: f"invited {made['id']}"})  # noqa: E731
        body = {"inviteeUserId": id, "role": "viewer", "note": word}
        return Deed(ann, "POST", f"{server.path}/invites", body, shows=(word,), then=then)

    @writer.deed
    def answer() -> Deed | None:
        if (id := stands.any("invited")) is None:
            return None
        invite_id = stands.of[id].split()[1]
        own = f"/v1/connect/server-invites/{invite_id}"
        match stage.rng.randrange(3):
            case 0:
                return Deed(ann, "DELETE", f"{server.path}/invites/{invite_id}", then=stands.move(id, ""))
            case 1:
                return Deed(by_id[id], "POST", f"{own}/decline", then=stands.move(id, ""))
        return Deed(by_id[id], "POST", f"{own}/accept", then=stands.move(id, "member"))

    _add_claims(writer, ann)
    return writer


def _add_claims(writer: Writer, ann: Player) -> None:
    """Further game servers, which are claimed and let go."""
    stage = writer.stage
    unclaimed: list[Any] = []
    owned: list[str] = []

    @writer.deed
    def register() -> Deed | None:
        if unclaimed:
            return None
        body = {"serverType": "paper", "serverName": stage.word()}
        return Deed(
            stage.nobody(), "POST", f"{SERVERS}/register", body, then=unclaimed.append, keyed=False, idle=True
        )

    @writer.deed
    def claim() -> Deed | None:
        if not unclaimed:
            return None
        made = unclaimed.pop()
        then = lambda _made: owned.append(made["serverId"])  # noqa: E731
        body = {"claimKey": made["claimKey"]}
        return Deed(ann, "POST", f"{SERVERS}/claim", body, shows=(made["serverName"],), then=then)

    @writer.deed
    def let_go() -> Deed | None:
        if not owned:
            return None
        id = owned.pop(0)
        return Deed(ann, "DELETE", f"{SERVERS}/{id}", hides=(id,))


async def networks(stage: Stage) -> Writer:
    """Networks, their servers, domains, webhooks."""
    ann = await stage.player("Nina")
    writer = Writer("networks", stage, soft=frozenset({"lastSeenAt"}))
    net = await network(ann, "Sky")
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    for path in (NETWORKS, net.domains, f"{net.path}/discord", SERVERS, "/v1/connect/hosts"):
        writer.page(ann, path)
    nets: list[str] = []

    @writer.deed
    def make() -> Deed | None:
        if len(nets) >= MOST:
            return None
        word = stage.word()
        then = lambda made: nets.append(made["network"]["networkId"])  # noqa: E731
        return Deed(ann, "POST", NETWORKS, {"name": word}, shows=(word,), then=then)

    @writer.deed
    def change() -> Deed:
        word = stage.word()
        return Deed(ann, "PATCH", net.path, {"name": word}, shows=(word,))

    @writer.deed
    def remove() -> Deed | None:
        if not nets:
            return None
        id = nets.pop(0)
        return Deed(ann, "DELETE", f"{NETWORKS}/{id}", hides=(id,))

    @writer.deed
    def move() -> Deed:
        body = {"networkId": net.id if writer.flip("network") else None}
        return Deed(ann, "PATCH", server.path, body)

    claimed_domains: list[str] = []
    hooked: list[Any] = []

    @writer.deed
    def claim() -> Deed | None:
        if len(claimed_domains) >= MOST:
            return None
        domain = f"{stage.word('d')}.example.org"
        claimed_domains.append(domain)
        return Deed(ann, "POST", net.domains, {"domain": domain}, shows=(domain,))

    @writer.deed
    def hook() -> Deed:
        word = stage.word()
        body = {"guildId": GUILD, "events": ["server_online"], "inviteUrl": f"https://discord.gg/{word}"}
        return Deed(ann, "PUT", f"{net.path}/discord", body, shows=(word,), then=hooked.append)

    @writer.deed
    def unhook() -> Deed | None:
        if not hooked:
            return None
        then = lambda _made: hooked.clear()  # noqa: E731
        return Deed(ann, "DELETE", f"{net.path}/discord", hides=("discord.gg",), then=then)

    return writer


async def publications(stage: Stage) -> Writer:
    """What servers and networks show of themselves, and what admins make of it."""
    root, ann = await stage.super_admin(), await stage.player("Pub")
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    net = await network(ann, "Islands")
    writer = Writer("publications", stage, soft=frozenset({"status", "statusUpdatedAt"}))
    for target in (server, net):
        writer.page(ann, path_of(target))
    writer.page(ann, "/v1/profile/servers")
    writer.page(root, "/v1/admin/connect/publications?state=SUPPRESSED")
    writer.page(stage.nobody(), PUBLIC)
    shown: dict[str, str] = {}
    suppressed: set[str] = set()

    @writer.deed
    def publish() -> Deed:
        word, target = stage.word(), stage.rng.choice((server, net))
        address = "server.example.org" if target is server else "net.example.org"
        body = {"address": address, "displayName": word, "tags": [word]}
        then = lambda made: shown.__setitem__(path_of(target), made["publication"]["id"])  # noqa: E731
        return Deed(ann, "PUT", path_of(target), body, shows=(word,), then=then)

    @writer.deed
    def judge() -> Deed | None:
        if not shown:
            return None
        word = stage.word()
        path, is_suppressed = stage.rng.choice(list(shown)), stage.rng.random() < 0.5
        body = {"featured": stage.rng.random() < 0.5, "suppressed": is_suppressed, "reason": word}

        def then(_made: Any) -> None:
            (suppressed.add if is_suppressed else suppressed.discard)(path)

        return Deed(
            root, "PATCH", f"/v1/admin/connect/publications/{shown[path]}", body, then=then, idle=True
        )

    @writer.deed
    def withdraw() -> Deed | None:
        free = [path for path in shown if path not in suppressed]
        if not free or stage.rng.random() < 0.7:
            return None
        del shown[free[0]]
        return Deed(ann, "DELETE", free[0])

    return writer


async def gateways(stage: Stage) -> Writer:
    """Gateways and routes."""
    root, ann = await stage.super_admin(), await stage.player("Gina")
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    soft = frozenset(
        {"lastHeartbeatAt", "lastHeartbeatAtMs", "connections", "status"}
    )  # offline, as none beats
    writer = Writer("gateways", stage, soft)
    writer.page(root, GATEWAYS)
    writer.page(root, ROUTES)
    way = await gateway(stage)  # type: ignore[arg-type]
    routed: list[Any] = []

    @writer.deed
    def route() -> Deed:
        word = stage.word("g")
        body = {"routeHost": f"{word}.{DOMAIN}", "backendHost": "10.0.0.5", "backendPort": 25565}
        return Deed(server, "PUT", f"{server.path}/gateway-route", body, shows=(word,), then=routed.append)

    @writer.deed
    def unroute() -> Deed | None:
        if not routed:
            return None
        then = lambda _made: routed.clear()  # noqa: E731
        return Deed(server, "DELETE", f"{server.path}/gateway-route", hides=(server.id,), then=then)

    @writer.deed
    def change() -> Deed:
        capacity = stage.rng.randrange(1, 999)
        body = {"status": stage.rng.choice(("online", "draining")), "capacity": capacity}
        return Deed(
            root, "PATCH", f"{GATEWAYS}/{way.id}", body, idle=True, shows=(f'"capacity": {capacity}',)
        )

    return writer


async def services(stage: Stage) -> Writer:
    """Extensions, what servers register of them, and services."""
    ann = await stage.player("Serge")
    server = await claimed(stage, ann)  # type: ignore[arg-type]
    ids = [await extension(ann, stage.word("e")) for _ in range(2)]
    writer = Writer("services", stage)
    for path in (SERVICES, "/v1/connect/extensions", f"{server.path}/extensions"):
        writer.page(ann, path)
    made_services: dict[str, str] = {}  # {extension: its service}

    @writer.deed
    def make() -> Deed | None:
        free = [id for id in ids if id not in made_services]
        if not free:
            return None
        word = stage.word()
        then = lambda made: made_services.__setitem__(free[0], made["serviceId"])  # noqa: E731
        body = {"name": word, "extensionId": free[0]}
        return Deed(ann, "POST", SERVICES, body, shows=(word,), then=then)

    @writer.deed
    def remove() -> Deed | None:
        if not made_services:
            return None
        _extension, id = made_services.popitem()
        return Deed(ann, "DELETE", f"{SERVICES}/{id}", hides=(id,), in_steps=True)

    @writer.deed
    def change() -> Deed:
        word = stage.word()
        path = f"/v1/connect/extensions/{stage.rng.choice(ids)}"
        return Deed(ann, "PUT", path, {"name": word, "description": word}, shows=(word,))

    @writer.deed
    def register() -> Deed:
        word = stage.word()
        path = f"{server.path}/extensions/{stage.rng.choice(ids)}"
        return Deed(server, "PUT", path, {"name": word, "actions": ACTIONS}, shows=(word,))

    return writer


SERVERS_OF_PLAYERS = (servers, members, networks, publications, gateways, services)
