"""Somebody who leaves something in every corner that has one, and a search for it in every table."""

from base64 import b64encode

from persistence.connection import Connection
from persistence.networks import gateway_routes
from persistence.networks.rows import RouteRow
from tests.banners.play import BANNERS
from tests.capes.stage import SELECTION, cape_in, moderator
from tests.chat.play import a_file
from tests.connect.play import claimed
from tests.friends.play import ask, make_friends
from tests.news.play import POLL, write
from tests.party.play import PARTY
from tests.saved_servers.play import SAVED, save_all
from tests.services.play import extension, service
from tests.shop.play import open_shop
from tests.support.world import Player, World
from tests.totems.play import carry
from tests.totems.play import upload as upload_totem
from tests.voice.play import join, node, node_server, private

NAME, SECRET = "Quintessa", "zwiebelkuchen"
"""A name, and a word in everything that she keeps with us, that stand nowhere else."""


async def traces(conn: Connection, word: str) -> dict[str, int]:
    """{table: rows that hold the word}; bytes are searched in their hexadecimal form."""
    names = [
        row["name"]
        for row in await conn.fetch(
            "SELECT relname AS name FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE relkind IN ('r', 'p') AND nspname NOT IN ('pg_catalog', 'information_schema')"
        )
    ]
    found = {}
    for name in names:
        count = await conn.fetchval(
            f'SELECT count(*) FROM "{name}" AS one'
            " WHERE position($1 IN lower(one::text)) > 0 OR position($2 IN one::text) > 0"
            " OR position($3 IN one::text) > 0",
            word.lower(),
            word.encode().hex(),
            word.lower().encode().hex(),
        )
        if count:
            found[name] = count
    return found


async def standing(conn: Connection, word: str) -> set[tuple[str, str]]:
    """(table, column) of the texts in which a word stands as it is."""
    columns = await conn.fetch(
        "SELECT attrelid::regclass::text AS name, attname FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE relkind IN ('r', 'p') AND attnum > 0"
        " AND NOT attisdropped AND nspname NOT IN ('pg_catalog', 'information_schema')"
    )
    return {
        (row["name"], row["attname"])
        for row in columns
        if await conn.fetchval(
            f'SELECT EXISTS (SELECT FROM {row["name"]} WHERE position($1 IN "{row["attname"]}"::text) > 0'
            f' OR position($2 IN "{row["attname"]}"::text) > 0)',
            word,
            word.encode().hex(),
        )
    }


def once(number: int) -> dict[str, str]:
    """The headers of a request whose answer is kept."""
    return {"idempotency-key": f"request-{number}"}


async def answered(ann: Player, ben: Player) -> None:
    """Answers of both are kept, and say what she is called and has written."""
    shared = {"name": SECRET, "manifest": {"word": SECRET}}
    group = {"kind": "group", "participantIds": [ann.id]}
    for number, (player, path, body) in enumerate((
        (ann, "/v1/profile/shares", shared),
        (ann, "/v1/social/chat/conversations", {"kind": "group", "participantIds": [ben.id]}),
        (ben, "/v1/social/chat/conversations", group),
        (ben, "/v1/social/party/invites", {"targetId": ann.id}),
    )):  # fmt: skip
        response = await player.ask("POST", path, body, headers=once(number))
        assert response.status_code in {200, 201}, response.text


async def ordered(world: World, ann: Player) -> None:
    """Ann buys something, and says where she wants to come back to."""
    shop = await open_shop(world)
    back = f"{world.service.config.base_url}/?word={SECRET}&name={NAME}"
    await shop.buy(ann, await shop.product(), successUrl=back, cancelUrl=back)


async def in_a_party_of(ben: Player, ann: Player) -> str:
    """Ann comes into Ben's party, invites somebody and goes; the party lives on."""
    party_id = (await ben.get(PARTY))["party"]["id"]
    await ann.do("POST", f"{PARTY}/invites/{party_id}/accept", status=200)
    await ann.do("POST", f"{PARTY}/invites", {"targetId": (await ann.world.player("Dan")).id}, status=200)
    await ann.do("POST", f"{PARTY}/leave", status=200)
    return str(party_id)


async def invited(world: World, ann: Player, ben: Player) -> None:
    """Ann invites somebody to Ben's server, and leaves it."""
    server = await claimed(world, ben)
    member = f"{server.path}/members/{ann.id}"
    await ben.do("PUT", member, {"role": "admin"})
    wish = {
        "inviteeUserId": (await world.player("Dot")).id,
        "role": "viewer",
        "capabilities": [],
        "note": SECRET,
    }
    await ann.do("POST", f"{server.path}/invites", wish, status=201)
    await ann.do("DELETE", member)


async def everything(world: World, ann: Player, ben: Player) -> None:
    """Ann leaves something in every corner that has one."""
    mod = await moderator(world)
    await make_friends(ann, ben)
    await ask(ann, await world.player("Cid"), note=SECRET)
    await ben.do("PATCH", f"/v1/social/friends/{ann.id}", {"favorite": True})
    room = await ann.talk_to(ben)
    await ann.do("POST", f"{room.path}/attachments", a_file(name=f"{SECRET}.png"), status=201)
    text = b64encode(f"{SECRET} by {NAME}".encode()).decode()
    written = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": text}
    uploaded = await ann.do("POST", f"{room.path}/attachments", written, status=201)
    await ann.say(room, "look", attachmentIds=[uploaded["id"]])
    await ben.say(room, f"<@user:{ann.id}>!", mentions=[{"kind": "user", "id": ann.id}])
    await ann.say(room, "hello")
    await ann.do("POST", "/v1/social/friends/reports", {"targetId": ben.id, "reason": SECRET}, status=201)
    await ben.do("POST", "/v1/social/friends/reports", {"targetId": ann.id}, status=201)
    await ann.do("PATCH", "/v1/profile/settings", {"uiStyle": {"payload": {"word": SECRET}}})
    await ann.do("POST", "/v1/profile/shares", {"name": SECRET, "manifest": {"word": SECRET}}, status=201)
    await ann.do("PUT", "/v1/profile/minecraft-options", {"options": {"word": SECRET}})
    (saved,) = await save_all(ann, f"{SECRET}.example")
    await ann.do("PATCH", f"{SAVED}/{saved}", {"favorite": True})
    made = await cape_in("approved", ann, mod, name=SECRET, description=f"{SECRET} by {NAME}")
    await ben.do("PUT", SELECTION, {"source": "native", "capeId": made["id"]})
    refused = await cape_in("pending", ann, mod, name=SECRET)
    await mod.do("DELETE", f"/v1/admin/capes/{refused['id']}", status=204)
    await carry(ben, await upload_totem(ann, fileName=f"{SECRET}.json"))
    server = await claimed(world, ann)
    route = RouteRow(
        server_id=server.id, route_host=f"{SECRET}.example", backend_host=f"{SECRET}.example", backend_port=1,
        proxy_protocol=False, created_at_ms=0, updated_at_ms=0,
    )  # fmt: skip
    assert await world.service.database.transact(gateway_routes.put, route)
    made = await ann.do("POST", "/v1/connect/networks", {"name": SECRET}, status=201)
    scope = {"type": "network", "id": made["network"]["networkId"]}
    article = await write(ann, f"{SECRET} by {NAME}", body=SECRET, scope=scope, tags=[SECRET], poll=POLL)
    await ann.do("POST", f"/v1/news/{article['id']}/poll/vote", {"optionIds": ["1"]}, status=200)
    await ann.do("PUT", "/v1/news/follows", {"items": [scope, {"type": "category", "id": SECRET}]})
    await ann.do("POST", "/v1/launcher/performance-reports", {"word": SECRET, "name": NAME}, status=202)
    await ann.do("POST", BANNERS, {"name": SECRET, "baseColor": "red"}, status=201)
    await ordered(world, ann)
    await service(ann, await extension(ben, "board"), SECRET)
    await ann.get("/v1/quests/daily-games")
    await node(world, await node_server(world))
    await join(ann, await private(ann, ben))
    note = {"text": f"{NAME}: {SECRET}"}
    noted = await mod.ask("POST", f"/v1/admin/users/{ann.id}/notes", note, headers=once(9))
    assert noted.status_code == 201
    await answered(ann, ben)
    await invited(world, ann, ben)
    await in_a_party_of(ben, ann)
    await ann.do("POST", "/v1/social/party", status=200)
    await ann.do("POST", "/v1/social/party/invites", {"targetId": ben.id}, status=200)
