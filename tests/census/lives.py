"""A life in each domain: somebody comes, does what people do there, and what they have made is removed or left behind.

Everybody of a life is erased at its end, so whatever is still there then is there for no one.
"""

from collections.abc import Callable
from importlib import import_module

from routes.domains import DOMAINS
from tests.banners.play import BANNERS, DESIGN
from tests.capes.stage import SELECTION, cape_in
from tests.catalogs.play import ANIMALS, COW, lines, take_in
from tests.census.cast import Cast, Life
from tests.chat.play import a_file, poll_body
from tests.connect.play import claimed
from tests.connect.play import register as register_server
from tests.contract.sources import ROOT
from tests.discord.play import put as put_discord
from tests.discord.play import waiting_webhook
from tests.friends.play import ask, make_friends
from tests.gateways.play import gateway, put_route
from tests.mods.play import MODRINTH
from tests.networks.play import network
from tests.news.play import FEED, FOLLOWS, NEWS, POLL, editor, write
from tests.notifications.play import LIST as NOTIFICATIONS
from tests.notifications.play import READ as NOTIFICATIONS_READ
from tests.party.play import ARENA, PARTY, gather, ready
from tests.party.play import SELECTION as LOBBY_SELECTION
from tests.publications.play import PUBLIC as SERVERS_PUBLIC
from tests.publications.play import path_of, publish, push
from tests.quests.play import QUESTS, REROLL
from tests.saved_servers.play import SAVED, save_all
from tests.services.play import SERVICES, configure, extension, register, service
from tests.sessions.play import signed_in
from tests.shop.play import open_shop
from tests.totems.play import carry
from tests.totems.play import upload as upload_totem
from tests.users.play import PROFILE, SHARES, one
from tests.versions.play import RELEASES, TOLD, a_publisher, resolved
from tests.voice.play import join, node, node_server, private, sync

LIVES: dict[str, Life] = {
    domain.name: import_module(f"tests.{domain.name}.life").live
    for domain in DOMAINS
    if (ROOT / "tests" / domain.name / "life.py").exists()
}
"""{name of a domain: what is done there}, in `tests/<domain>/life.py` or below"""


def life(domain: str) -> Callable[[Life], Life]:
    """Say of which domain it is a life."""

    def lived(function: Life) -> Life:
        LIVES[domain] = function
        return function

    return lived


@life("operations")
async def _operations(cast: Cast) -> None:
    for channel in ("metrics", "actors"):
        await cast.sees(channel, by=cast.root)
    await cast.root.get("/v1/admin/actors")
    await cast.root.get("/v1/admin/nodes")


@life("users")
async def _users(cast: Cast) -> None:
    ann, root = cast.ann, cast.root
    await ann.do("PATCH", "/v1/profile/settings", {"uiStyle": {"payload": {"dark": True}}})
    await ann.do("PUT", "/v1/profile/minecraft-options", {"options": {"fov": "90"}})
    shared = await ann.do("POST", SHARES, PROFILE, status=201)
    await cast.world.nobody().get(f"/v1/public/profile-shares/{shared['code']}")
    await ann.do("DELETE", f"{SHARES}/{shared['code']}")
    for perk in ("glow", "shine"):
        await root.do("POST", f"{one(ann)}/permissions", {"node": f"perk:{perk}{cast.number}"})
    await root.do("DELETE", f"{one(ann)}/permissions/perk:glow{cast.number}")
    other = await cast.world.player("Revoked")
    await other.do("POST", "/v1/auth/revoke")


@life("sessions")
async def _sessions(cast: Cast) -> None:
    browser = await signed_in(cast.ben)
    await browser.renew()
    await browser.get("/v1/sessions")
    await browser.do("DELETE", "/v1/sessions/current")


@life("console")
async def _console(cast: Cast) -> None:
    for path in ("/", "/app", f"/app/lives/{cast.number}"):
        assert (await cast.world.nobody().ask("GET", path)).status_code == 200


@life("saved_servers")
async def _saved_servers(cast: Cast) -> None:
    kept, gone = await save_all(cast.ann, f"kept{cast.number}.example", f"gone{cast.number}.example")
    await cast.ann.do("PATCH", f"{SAVED}/{kept}", {"favorite": True})
    await cast.ann.do("DELETE", f"{SAVED}/{gone}")


@life("capes")
async def _capes(cast: Cast) -> None:
    made = await cape_in("approved", cast.ann, cast.mod)
    await cast.ben.do("PUT", SELECTION, {"source": "native", "capeId": made["id"]})
    await cape_in("pending", cast.ann, cast.mod)


@life("notifications")
async def _notifications(cast: Cast) -> None:
    await cast.sees("notifications")
    await ask(cast.ben, cast.ann)
    told, *_ = (await cast.ann.get(NOTIFICATIONS))["items"]
    await cast.ann.do("POST", NOTIFICATIONS_READ, {"ids": [told["id"]]})


@life("reports")
async def _reports(cast: Cast) -> None:
    about = {"targetId": cast.ben.id, "reason": "loud"}
    made = await cast.ann.do("POST", "/v1/social/friends/reports", about, status=201)
    await cast.mod.do("PATCH", f"/v1/admin/reports/{made['id']}", {"status": "actioned"})


@life("moderation")
async def _moderation(cast: Cast) -> None:
    await cast.sees("moderation", by=cast.root)
    noted = await cast.mod.do("POST", f"{one(cast.ann)}/notes", {"text": "Loud."}, status=201)
    await cast.mod.do("DELETE", f"{one(cast.ann)}/notes/{noted['id']}")
    await cast.mod.do("POST", f"{one(cast.ann)}/notes", {"text": "Still loud."}, status=201)


@life("friends")
async def _friends(cast: Cast) -> None:
    ann, cid, dan = cast.ann, *await cast.world.players("Cid", "Dan")
    await cast.sees("friends")
    await make_friends(ann, cid)
    await ann.do("PATCH", f"/v1/social/friends/{cid.id}", {"favorite": True})
    await ask(ann, dan, note="hi")
    await ann.do("DELETE", f"/v1/social/friends/{cid.id}")
    await cid.do("POST", "/v1/social/friends/blocks", {"targetId": ann.id})


@life("party")
async def _party(cast: Cast) -> None:
    eve, fay = await cast.world.players("Eve", "Fay")
    await cast.sees("party")
    await gather(cast.ann, eve)
    await cast.ann.do("PUT", LOBBY_SELECTION, ARENA, status=200)
    await ready(eve)
    await cast.ann.do("POST", f"{PARTY}/invites", {"targetId": fay.id}, status=200)
    await cast.ann.do("POST", f"{PARTY}/leave", status=200)


@life("chat")
async def _chat(cast: Cast) -> None:
    ann, ben = cast.ann, cast.ben
    await cast.sees("inbox")
    room = await ann.talk_to(ben)
    await cast.sees(room.channel, mode="delta")
    kept = await ann.do("POST", f"{room.path}/attachments", a_file(), status=201)
    await ann.do("POST", f"{room.path}/attachments", a_file(name="unused.png"), status=201)
    await ann.say(room, "look", attachmentIds=[kept["id"]])
    said = await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    await ben.do("PATCH", room.message(said["id"]), {"content": "never mind", "mentions": []})
    asked = await ann.do("POST", room.messages, {"poll": poll_body()}, status=201)
    option = asked["poll"]["options"][0]["id"]
    await ben.do("POST", f"{room.message(asked['id'])}/poll/vote", {"optionIds": [option]})
    await cast.sockets[ann.id].send_json(
        {"id": "typing", "op": "typing", "conversationId": room.id, "typing": True}
    )
    await ben.do("DELETE", room.message(said["id"]))
    group = await ann.talk_to(ben, await cast.world.player("Gil"))
    once = {"idempotency-key": f"life-{cast.number}"}
    assert (await ann.ask("POST", group.messages, {"content": "once"}, headers=once)).status_code == 201
    for player in (ann, ben):
        await player.do("DELETE", f"{group.path}/participants/{player.id}")


@life("connect")
async def _connect(cast: Cast) -> None:
    await cast.sees("servers")
    server = await claimed(cast.world, cast.ann)
    await register_server(cast.world, "Unclaimed")
    await cast.sees(f"server:{server.id}")
    made = await cast.ann.do("POST", f"{server.path}/commands", {"action": "restart"}, status=201)
    await cast.ann.do("POST", f"{server.path}/commands", {"action": "stop"}, status=201)
    await cast.ann.do("DELETE", f"{server.path}/commands/{made['command']['id']}")
    await cast.ann.do("PUT", f"{server.path}/settings", {"source": "connect", "data": {"n": 1}})
    await cast.ann.do("PUT", f"{server.path}/members/{cast.ben.id}", {"role": "admin"})
    offered = {"inviteeUserId": (await cast.world.player("Hal")).id, "role": "viewer"}
    await cast.ben.do("POST", f"{server.path}/invites", offered, status=201)
    await server.seat(cast.ben)
    await server.delegated("server.settings.read")
    left = await claimed(cast.world, cast.ann, "Left behind")
    await left.seat(cast.ann)
    await cast.ann.do("DELETE", server.path)


@life("publications")
async def _publications(cast: Cast) -> None:
    server = await claimed(cast.world, cast.ann)
    await publish(cast.ann, server, address=f"play{cast.number}.example.org")
    await push(server, address=f"play{cast.number}.example.org:25565")
    await cast.world.nobody().get(SERVERS_PUBLIC)
    await cast.ann.do("DELETE", path_of(server))


@life("networks")
async def _networks(cast: Cast) -> None:
    net = await network(cast.ann, f"Sky{cast.number}")
    await net.host()
    server = await net.server()
    await net.claim(f"life{cast.number}.example.org")
    await cast.ann.do("PATCH", server.path, {"networkId": None}, status=200)
    gone = await network(cast.ann, f"Gone{cast.number}")
    await cast.ann.do("DELETE", gone.path)


@life("gateways")
async def _gateways(cast: Cast) -> None:
    server = await claimed(cast.world, cast.root)
    way = await gateway(cast.world, f"gw{cast.number}.example.net")
    await put_route(server, f"{cast.number}.play.partyline.test")
    await way.beat(connections=1)
    await server.do("DELETE", f"{server.path}/gateway-route")
    await put_route(await claimed(cast.world, cast.ann), f"{cast.number}.left.play.partyline.test")


@life("totems")
async def _totems(cast: Cast) -> None:
    await carry(cast.ben, await upload_totem(cast.ann))


@life("ip")
async def _ip(cast: Cast) -> None:
    assert (await cast.world.nobody().ask("GET", "/v1/ip")).status_code == 200


@life("launcher")
async def _launcher(cast: Cast) -> None:
    report = {"launcherVersion": f"1.{cast.number}", "platform": "linux"}
    await cast.ann.do("POST", "/v1/launcher/performance-reports", report, status=202)
    await cast.root.do(
        "PUT", "/v1/admin/launcher/network-guard-allowlist", {"hosts": [f"h{cast.number}.example.org"]}
    )


@life("shop")
async def _shop(cast: Cast) -> None:
    await cast.sees("shop")
    shop = await open_shop(cast.world)
    product = await shop.product(f"glow-{cast.number}")
    await shop.buy(cast.ann, product)
    await shop.refunded(await shop.buy(cast.ben, product))
    await shop.order(cast.ann, await shop.product(f"unpaid-{cast.number}"))


@life("versions")
async def _versions(cast: Cast) -> None:
    pia = await a_publisher(cast.world)
    release = await pia.published(f"{cast.number}.0.0")
    await resolved(cast.world, "0.0.1")
    await cast.world.nobody().do(
        "POST", TOLD, {"event": "check", "releaseId": release["releaseId"], "platform": "linux"}
    )
    draft = await pia.release(f"{cast.number}.0.1")
    await pia.player.do("DELETE", f"{RELEASES}/{draft['releaseId']}")


@life("news")
async def _news(cast: Cast) -> None:
    await cast.sees("news")
    ed = await editor(cast.world)
    article = await write(ed, f"Hello {cast.number}", tags=[f"tag{cast.number}"], poll=POLL)
    await cast.ann.do("POST", f"{NEWS}/{article['id']}/poll/vote", {"optionIds": ["1"]}, status=200)
    await cast.ann.do("PUT", FOLLOWS, {"items": [{"type": "category", "id": f"tag{cast.number}"}]})
    await cast.ann.get(FEED)


@life("discord")
async def _discord(cast: Cast) -> None:
    net = await network(cast.ann, f"Guild{cast.number}")
    await put_discord(net)
    await waiting_webhook(cast.world, net.id)
    await write(cast.ann, "Posted", scope={"type": "network", "id": net.id})


@life("quests")
async def _quests(cast: Cast) -> None:
    await cast.ann.get(QUESTS)
    await cast.ann.do("POST", REROLL, {}, status=200)


@life("games")
async def _games(cast: Cast) -> None:
    await cast.sees("games")
    await cast.ann.get("/v1/games/catalog")


@life("banners")
async def _banners(cast: Cast) -> None:
    made = await cast.ann.do("POST", BANNERS, DESIGN, status=201)
    await cast.ann.do("POST", BANNERS, DESIGN, status=201)
    await cast.ann.do("DELETE", f"{BANNERS}/{made['id']}")


@life("catalogs")
async def _catalogs(cast: Cast) -> None:
    await take_in(cast.world, *lines(ANIMALS, COW))
    await cast.world.nobody().get("/v1/catalogs")


@life("mods")
async def _mods(cast: Cast) -> None:
    await cast.world.nobody().get(f"{MODRINTH}/search", query=f"life{cast.number}")


@life("services")
async def _services(cast: Cast) -> None:
    board = await extension(cast.ben, f"board-{cast.number}")
    server = await claimed(cast.world, cast.ann)
    await register(server, board)
    await configure(server, board, lines=3)
    made = await service(cast.ann, board)
    await cast.ann.do("DELETE", f"{SERVICES}/{made['serviceId']}")
    await service(cast.ann, board)


@life("voice")
async def _voice(cast: Cast) -> None:
    ann, ida = cast.ann, await cast.world.player("Ida")
    await cast.sees("voice")
    await make_friends(ann, ida)
    heard = await node(cast.world, await node_server(cast.world))
    channel = await private(ann, ida)
    joined = await join(ann, channel)
    await sync(ann, joined)
    await join(ida, channel)
    await heard.beat()
    await ann.do("POST", "/v1/social/voice/session/leave", {"sessionId": joined["session"]["id"]})
