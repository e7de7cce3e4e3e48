"""Scenes in which inputs are rejected: each makes what a row of `rejected_inputs.csv` needs, and names it."""

import json
import secrets
from collections.abc import Awaitable, Callable

from PIL import Image

from actors.ids import new_uuid
from actors.time import iso
from persistence.quests import quests
from persistence.services import services
from persistence.services.services import ServiceRow
from tests.banners.play import keep_many
from tests.capes.images import cape, data_url, saved
from tests.capes.stage import upload as upload_cape
from tests.catalogs.play import ANIMALS, lines, take_in
from tests.chat.play import a_file
from tests.connect.play import claimed
from tests.discord.play import waiting_webhook
from tests.friends.play import ask
from tests.news.play import POLL, network, write
from tests.party.play import gather
from tests.publications.play import publish
from tests.saved_servers.play import save_all
from tests.services.play import extension, service
from tests.shop.play import Shop
from tests.support.world import Player, World
from tests.totems.models import encoded, item_model
from tests.totems.play import upload as upload_totem
from tests.versions.play import FILE, Publisher
from tests.voice.play import join, node, node_server, private

Scene = Callable[[World, Player, Player], Awaitable[dict[str, str]]]


async def takes_no_requests(_: World, ann: Player, ben: Player) -> dict[str, str]:
    await ben.do("PATCH", "/v1/profile/settings", {"allowFriendRequests": False})
    return {}


async def has_blocked(_: World, ann: Player, ben: Player) -> dict[str, str]:
    asked = await ask(ann, ben)
    await ann.do("POST", "/v1/social/friends/blocks", {"targetId": ben.id})
    return {"request": asked["id"]}


async def asked_and_blocked(world: World, ann: Player, ben: Player) -> dict[str, str]:
    """As it is for a moment, when a block comes between a request and its acceptance."""
    asked = await ask(ann, ben)
    await world.block(ann, ben)
    return {"request": asked["id"]}


async def three_people(world: World, ann: Player, ben: Player) -> dict[str, str]:
    return {"cid": (await world.player("Cid")).id}


async def a_conversation(_: World, ann: Player, ben: Player) -> dict[str, str]:
    return {"room": (await ann.talk_to(ben)).id}


async def saved_servers(_: World, ann: Player, ben: Player) -> dict[str, str]:
    first, second = await save_all(ann, "a.example", "b.example")
    (foreign,) = await save_all(ben, "d.example")
    return {"first": first, "second": second, "foreign": foreign}


async def a_totem(_: World, ann: Player, ben: Player) -> dict[str, str]:
    made = await upload_totem(ann)
    return {"totem": made["itemModelId"], "model": encoded(item_model())}


async def cape_pictures(_: World, ann: Player, ben: Player) -> dict[str, str]:
    gif = saved(Image.new("P", (64, 32)), "GIF")
    made = await upload_cape(ann)
    return {
        "cape": made["id"],
        "gif": data_url(gif, "image/gif"),
        "disguised": data_url(gif),
        "wide": data_url(cape(128, 64)),
    }


async def an_attachment(_: World, ann: Player, ben: Player) -> dict[str, str]:
    room = await ann.talk_to(ben)
    kept = await ann.do("POST", f"{room.path}/attachments", a_file(), status=201)
    return {"room": room.id, "attachment": kept["id"], "token": str(ann.token)}


async def talked_and_blocked(_: World, ann: Player, ben: Player) -> dict[str, str]:
    room = await ann.talk_to(ben)
    await ann.say(room)
    await ann.do("POST", "/v1/social/friends/blocks", {"targetId": ben.id})
    return {"room": room.id}


async def a_party(world: World, ann: Player, ben: Player) -> dict[str, str]:
    hundred = ",".join(f'"{new_uuid(secrets.token_bytes)}"' for _ in range(100))
    stranger = await world.player("Cid")
    return {"party": await gather(ann, ben), "stranger": stranger.id, "hundred": hundred}


async def a_shop(world: World, ann: Player, ben: Player) -> dict[str, str]:
    """Ann manages it, has one piece of what one recipient may have once, and has ordered something."""
    await world.grant(ann, "shop:manage")
    shop = Shop(world, ann)
    glow, free = await shop.product(limit=1), await shop.product("free")
    dollars = await shop.product("dollars", price={"amount": 1, "currency": "usd"})
    gone = await shop.product("gone", available=False)
    pending = await shop.order(ann, free)
    return {
        "glow": glow["id"], "free": free["id"], "dollars": dollars["id"], "gone": gone["id"],
        "many": ",".join([json.dumps({"productId": free["id"]})] * 21), "pending": pending["purchases"][0]["id"],
        "checkout": pending["checkout"]["id"],
    }  # fmt: skip


async def five_open_checkouts(world: World, ann: Player, ben: Player) -> dict[str, str]:
    names = await a_shop(world, ann, ben)
    for _ in range(4):
        await Shop(world, ann).order(ann, {"id": names["free"]})
    return names


async def a_paid_checkout(world: World, ann: Player, ben: Player) -> dict[str, str]:
    names = await a_shop(world, ann, ben)
    await Shop(world, ann).paid({"id": names["pending"]})
    return names


async def a_refunded_purchase(world: World, ann: Player, ben: Player) -> dict[str, str]:
    names = await a_paid_checkout(world, ann, ben)
    await Shop(world, ann).refunded({"id": names["pending"]})
    return names | {"purchase": names["pending"]}


async def a_release_and_a_yanked_one(world: World, ann: Player, ben: Player) -> dict[str, str]:
    for permission in ("versions:write", "versions:publish"):
        await world.grant(ann, permission)
    publisher = Publisher(world, ann)
    active, yanked = await publisher.published("1.0.0"), await publisher.release("2.0.0")
    for status in ("published", "yanked"):
        await publisher.changed(yanked, status=status)
    files = ",".join(json.dumps(FILE | {"fileName": f"{number}"}) for number in range(65))
    channel = '"scopeType":"launcher","scopeId":"main","channel":"stable"'
    return {"active": active["releaseId"], "yanked": yanked["releaseId"], "files": files, "channel": channel}


async def a_publisher(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await world.grant(ann, "versions:publish")
    return {"hosts": ",".join(f'"h{number}.example.org"' for number in range(501))}


async def an_editor(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await world.grant(ann, "news:write")
    polled = await write(ann, "Polled", poll=POLL, slug="taken")
    shut = await write(ann, "Shut", poll=POLL)
    await ann.do("PATCH", f"/v1/news/{shut['id']}", {"status": "archived"}, status=200)
    now_ms, day_ms = world.clock.now_ms(), 24 * 3600 * 1000
    follows = [{"type": "category", "id": f"c{number}"} for number in range(201)]
    return {
        "long": "a" * 32_769,
        "brackets": "[" * 1_001,
        "past": iso(now_ms - 1),
        "far": iso(now_ms + 367 * day_ms),
        "polled": polled["id"],
        "shut": shut["id"],
        "follows": json.dumps(follows)[1:-1],
    }


async def a_network(world: World, ann: Player, ben: Player) -> dict[str, str]:
    """It has a webhook whose address cannot be read any more, as after a restore without the keys."""
    id = (await network(ann))["id"]
    await waiting_webhook(world, id)
    return {"network": id, "hook": f"webhooks/123456789012345678/{'a' * 68}"}


async def a_hundred_banners(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await world.service.database.transact(keep_many, ann.id, 100)
    return {}


async def a_catalog_without_items(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await take_in(world, *lines(ANIMALS))
    return {}


async def services_of_extensions(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await extension(ben, "theirs", "private")
    for id in ("old", "new", "newest"):
        await extension(ann, id)
    moving = await service(ann, "old")
    row = ServiceRow(
        service_id=moving["serviceId"],
        owner_id=ann.id,
        extension_id="new",
        name="Board",
        created_at_ms=0,
        migrating_from="old",
    )
    await world.service.database.transact(services.move, row)
    return {"moving": moving["serviceId"]}


async def a_finished_quest(world: World, ann: Player, ben: Player) -> dict[str, str]:
    first = (await ann.get("/v1/quests/daily-games"))["quests"][0]
    done = {first["id"]: first["goal"]}
    await world.service.database.transact(quests.advance, done, world.clock.now_ms())
    return {"finished": first["id"]}


async def a_voice_node(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await node(world, await node_server(world))
    return {}


async def no_voice_node(world: World, ann: Player, ben: Player) -> dict[str, str]:
    return {}


async def no_catalogue_of_mods(world: World, ann: Player, ben: Player) -> dict[str, str]:
    return {}


async def a_voice_node_and_a_block(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await node(world, await node_server(world))
    await world.block(ben, ann)
    return {}


async def a_locked_voice_channel(world: World, ann: Player, ben: Player) -> dict[str, str]:
    return await _controlled(world, ann, ben, {"locked": True})


async def a_full_voice_channel(world: World, ann: Player, ben: Player) -> dict[str, str]:
    made = await _controlled(world, ann, ben, {"maxParticipants": 1})
    await join(ben, made["channel"])
    return made


async def a_voice_channel_that_removed(world: World, ann: Player, ben: Player) -> dict[str, str]:
    return await _controlled(world, ann, ben, {"removeIds": [ann.id]})


async def _controlled(world: World, ann: Player, ben: Player, control: object) -> dict[str, str]:
    await node(world, await node_server(world))
    channel_id = await private(ann, ben)
    moderator = await world.ranked("Mod", "moderator")
    await moderator.do("PUT", f"/v1/social/voice/channels/{channel_id}/control", control, status=200)
    return {"channel": channel_id}


async def no_reroll_left(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await ann.do("POST", "/v1/quests/daily-games/reroll", {}, status=200)
    return {}


async def ann_in_charge(world: World, ann: Player, ben: Player) -> dict[str, str]:
    await world.promote(ann, "super-admin")
    return {"publication": (await publish(ben, await claimed(world, ben)))["id"]}


SCENES: dict[str, Scene] = {
    one.__name__.replace("_", " "): one
    for one in (
        ann_in_charge,
        a_catalog_without_items,
        a_hundred_banners,
        services_of_extensions,
        a_finished_quest,
        no_reroll_left,
        takes_no_requests,
        has_blocked,
        asked_and_blocked,
        three_people,
        a_conversation,
        saved_servers,
        a_totem,
        cape_pictures,
        an_attachment,
        talked_and_blocked,
        a_party,
        a_publisher,
        a_release_and_a_yanked_one,
        a_shop,
        five_open_checkouts,
        a_paid_checkout,
        a_refunded_purchase,
        an_editor,
        a_network,
        a_voice_node,
        no_voice_node,
        no_catalogue_of_mods,
        a_voice_node_and_a_block,
        a_locked_voice_channel,
        a_full_voice_channel,
        a_voice_channel_that_removed,
    )
}
