"""Every payload in every field that others see, written over the wire; and which page shows each.

A table at the end names the fields by the page that shows them.
"""

import base64
import io
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from PIL import Image

from actors.texts import is_text
from routes.console.landing import SHOWN
from routes.edge.identity.names import is_name
from tests.connect.play import GameServer, claimed
from tests.console.payloads import PAYLOADS, packed
from tests.shop.play import A_PRODUCT, PRODUCTS
from tests.support.world import CONVERSATIONS, Player, Room, World
from tests.totems.models import body as model_body

FRIENDS = "/v1/social/friends"
CATALOG = "/v1/connect/extensions"
NETWORKS = "/v1/connect/networks"


@dataclass
class Cast:
    """Who writes and who looks.

    Args:
        ada: an owner of everything, who looks.
        root: a super-admin, who looks at what operators see.
        writers: strangers, whose names are payloads too.
    """

    ada: Player
    root: Player
    writers: list[Player] = field(default_factory=list)


Pages = dict[str, list[str]]
"""{page: texts that it shows}; a page of the operators is looked at by `root`."""


async def gathered(world: World) -> Cast:
    """Everybody; each writer has as much of the payloads in their name as a name may have."""
    cast = Cast(await world.player("Ada"), await world.super_admin())
    cast.writers = [await world.player(name) for name in packed(64, is_name)]
    return cast


async def people(world: World, cast: Cast) -> Pages:
    """Names, notes of friend requests, reasons of reports, notes of moderators."""
    ada, root = cast.ada, cast.root
    first = cast.writers[0]
    notes, reasons = packed(300, is_text), packed(500, is_text)
    for writer, note, reason in zip_longest(cast.writers, notes, reasons[: len(cast.writers)], fillvalue=""):
        sent = await writer.do("POST", f"{FRIENDS}/requests", {"targetId": ada.id, "note": note})
        if writer is first:
            await ada.do("POST", f"{FRIENDS}/requests/{sent['id']}/accept")
        if reason:
            await writer.do("POST", f"{FRIENDS}/reports", {"targetId": ada.id, "reason": reason})
    known = packed(2_000, is_text)
    for text in known:
        await root.do("POST", f"/v1/admin/users/{first.id}/notes", {"text": text})
    names = [writer.name for writer in cast.writers]
    return {
        "/app/friends": [*names, *notes[1:]],
        "/app/notifications": names[-20:],
        "/app/operate/users": names[-20:],
        f"/app/operate/users/{first.id}": [first.name, *known],
        "/app/operate/reports": [*reasons, names[0]],
        "/app/operate/audit": [],
    }


async def talk(world: World, cast: Cast) -> Pages:
    """Messages, titles, polls, names of attachments, labels of mentions."""
    ada, writer = cast.ada, cast.writers[0]
    room = await ada.talk_to(*cast.writers[:3], kind="group")
    for payload in PAYLOADS:
        await writer.ask("POST", room.messages, {"content": payload})
    options = packed(100)
    for at in range(0, len(options), 10):
        labels = [{"label": option} for option in options[at : at + 10]]
        if len(labels) > 1:
            await writer.say(
                room, "", poll={"question": packed(300)[0], "options": labels, "multiple": False}
            )
    files = packed(200)
    await writer.say(
        room, "files", attachmentIds=[await _attached(writer, room, name) for name in files[:10]]
    )
    labels = packed(64)
    token = f"<@user:{ada.id}>"
    for label in labels[:5]:
        await writer.say(room, f"{token} look", mentions=[{"kind": "user", "id": ada.id, "label": label}])
    titles = packed(100)
    for title, other in zip(titles, cast.writers[1:], strict=False):
        group = {"kind": "group", "participantIds": [ada.id, other.id], "title": title}
        await writer.do("POST", CONVERSATIONS, group)
    taken = [payload for payload in PAYLOADS if is_text(payload) and payload == payload.strip()]
    return {
        f"/app/chat/{room.id}": [*map(_unmarked, taken), *options[: len(options) // 10 * 10], packed(300)[0]],
        "/app/chat": titles,
    }


def _unmarked(text: str) -> str:
    """As a thread shows a text, without the marks of its own formatting."""
    return text.replace("**", "").replace("`", "")


def _drawn(text: str) -> str:
    """As an article shows a text: without the marks of its formatting, and of links and pictures the words."""
    return re.sub(r"!?\[([^\]]*)\]\(https://[^)]*\)", r"\1", _unmarked(text))


async def _attached(player: Player, room: Room, name: str) -> str:
    body = {
        "fileName": name.replace("/", "_").replace("\\", "_"),
        "contentType": "text/html",
        "dataBase64": base64.b64encode(b"<script>alert(1)</script>").decode(),
    }
    return str((await player.do("POST", f"{room.path}/attachments", body))["id"])


async def looks(world: World, cast: Cast) -> Pages:
    """Names and descriptions of capes, and why a moderator has refused one."""
    ada, root = cast.ada, cast.root
    terms = await ada.get("/v1/profile/capes/upload-terms")
    await ada.do("POST", "/v1/profile/capes/upload-terms/accept", {"revision": terms["revision"]})
    names, descriptions = packed(64), packed(500, is_text)
    for number, name in enumerate(names):
        body = {"name": name, "description": descriptions[number % len(descriptions)], "texture": _texture()}
        cape = await ada.do("POST", "/v1/profile/capes", body)
        await ada.do("POST", f"/v1/profile/capes/{cape['id']}/submit")
    reason = packed(500)[0]
    refused = {"status": "blocked", "reason": reason}
    await root.do("PATCH", f"/v1/admin/capes/{cape['id']}", refused)
    return {"/app/capes": [*names, reason], "/app/operate/capes": [*names[:-1], *descriptions]}


def _texture() -> dict[str, str]:
    held = io.BytesIO()
    Image.new("RGBA", (64, 32), "teal").save(held, "png")
    return {"dataUrl": "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()}


async def servers(world: World, cast: Cast) -> Pages:
    """Servers, networks, publications, commands with their results, settings with their schema, extensions, members."""
    ada, root = cast.ada, cast.root
    names = packed(100)
    made: list[GameServer] = [await claimed(world, ada, name) for name in names]
    one = made[0]
    shown = [await _published(ada, server, text) for server, text in zip(made, packed(100), strict=False)]
    networks = packed(100)
    for name in networks[:10]:
        network = (await ada.do("POST", NETWORKS, {"name": name}))["network"]
    summary = packed(500)[0]
    await ada.do("PATCH", f"{NETWORKS}/{network['networkId']}", {"publicSummary": summary})
    commands = await _commanded(ada, one)
    labels = await _configured(ada, one)
    await root.do(
        "POST", CATALOG, {"extensionId": "shop", "name": packed(100)[0], "description": packed(500)[0]}
    )
    actions = packed(100)
    listed = [
        {"id": f"act{number}", "label": label, "description": label} for number, label in enumerate(actions)
    ]
    await one.do("PUT", f"{one.path}/extensions/shop", {"name": packed(100)[1], "actions": listed})
    for writer in cast.writers[:5]:
        await ada.do("PUT", f"{one.path}/members/{writer.id}", {"role": "viewer"})
    suppressed = packed(500)[0]
    await root.do(
        "PATCH",
        f"/v1/admin/connect/publications/{shown[-1]['id']}",
        {"suppressed": True, "reason": suppressed},
    )
    public = await ada.get("/v1/public/servers", limit=SHOWN)
    at = f"/app/servers/{one.id}"
    listing = [publication["displayName"] for publication in shown]
    return {
        "/app/servers": names,
        at: [names[0]],
        f"{at}/console": commands,
        f"{at}/settings": labels,
        f"{at}/members": [writer.name for writer in cast.writers[:5]],
        f"{at}/publication": [],
        f"{at}/extensions": [packed(100)[1], *actions],
        f"/app/networks/{network['networkId']}": [networks[:10][-1]],
        f"/app/networks/{network['networkId']}/profile": [summary],
        "/app/networks": networks[:10],
        "/app/discover": listing[:-1],
        "/": [one["displayName"] for one in public["items"]],
        "/app/operate/listing": [*listing[-20:], *names[-20:]],
    }


async def _published(ada: Player, server: GameServer, text: str) -> Any:
    body = {
        "displayName": text,
        # Of its own: one of them is suppressed, and with it whatever else is at its address.
        "address": f"{server.id}.example.org",
        "motdOverride": packed(300)[0],
    }
    return (await ada.do("PUT", f"/v1/connect/publications/server/{server.id}", body))["publication"]


async def _commanded(ada: Player, server: GameServer) -> list[str]:
    actions = packed(100)
    everything = packed(2_000, is_text)
    for action in actions:
        made = (
            await ada.do("POST", f"{server.path}/commands", {"action": action, "payload": {action: action}})
        )["command"]
        end = {"status": "failed", "error": packed(500)[0], "result": {"said": everything}}
        await server.ask("POST", f"{server.path}/commands/{made['id']}/ack", end)
    return [*actions, packed(500)[0]]


async def _configured(ada: Player, server: GameServer) -> list[str]:
    labels, options = packed(500), packed(100)
    kinds = ("string", "int", "bool", "list", "secret")
    fields: list[dict[str, object]] = [
        {"key": f"key{number}", "type": kinds[number % len(kinds)], "label": label, "description": label}
        for number, label in enumerate(labels)
    ]
    fields.append({"key": "choice", "type": "enum", "label": "Choice", "options": options})
    body = {"data": {"unknown": labels, "choice": options[0]}, "schema": {"fields": fields}}
    await ada.do("PUT", f"{server.path}/settings", body)
    return [*labels, *options]


async def offered(world: World, cast: Cast) -> Pages:
    """Notes of invites, authors of totems, headlines and summaries of news, names of products."""
    ada, root, writer = cast.ada, cast.root, cast.writers[0]
    notes, lines = packed(300, is_text), packed(100)
    authors = [f"~ {text}" for text in packed(62)]  # which no writer is called
    for note in notes:
        server = await claimed(world, writer, "Lobby")
        offer = {"inviteeUserId": ada.id, "role": "viewer", "note": note}
        await writer.do("POST", f"{server.path}/invites", offer)
    for author in authors:
        await writer.do("POST", "/v1/profile/personal-totem", model_body(author={"name": author}))
    for number, line in enumerate(lines):
        article = {
            "title": line,
            "summary": line,
            "body": "-",
            "slug": f"news-{number}",
            "status": "published",
        }
        await root.do("POST", "/v1/news", {**article, "scope": {"type": "global"}})
        await root.do("POST", PRODUCTS, {**A_PRODUCT, "slug": f"thing-{number}", "name": line})
    return {
        "/app": notes,
        "/app/servers": notes,
        "/app/notifications": [],
        "/app/totem": authors,
        "/app/news": lines[-20:],
        "/app/shop": lines,
        "/app/operate/shop": lines,
        "/app/operate/news": lines[-20:],
    }


async def stories(world: World, cast: Cast) -> Pages:
    """Texts, categories and polls of news, descriptions of products, files of totems."""
    root, writer = cast.root, cast.writers[0]
    taken = [payload for payload in PAYLOADS if is_text(payload) and payload == payload.strip()]
    options, question = packed(100)[:10], packed(300)[0]
    article = {
        "scope": {"type": "global"},
        "title": "All of it",
        "summary": packed(500, is_text)[0],
        "body": "\n\n".join(taken),
        "status": "published",
        "poll": {"question": question, "options": [{"label": option} for option in options]},
    }
    whole = await root.do("POST", "/v1/news", {**article, "slug": "whole"})
    categories = packed(32)
    for number, category in enumerate(categories):
        body = {**article, "body": "-", "poll": None, "slug": f"of-{number}", "category": category}
        told = await root.do("POST", "/v1/news", body)
    descriptions = packed(2_000, is_text)
    for number, text in enumerate(descriptions):
        product = {**A_PRODUCT, "slug": f"thing-{number}", "description": text}
        await root.do("POST", PRODUCTS, product)
    names = []  # without what would lead into a folder
    for number, name in enumerate(packed(255)):
        totem = model_body(fileName=name, author={"name": f"Carver {number}", "description": packed(500)[0]})
        made = await writer.do("POST", "/v1/profile/personal-totem", totem)
        names.append(made["fileName"])
    return {
        f"/app/news/{whole['id']}": [*map(_drawn, taken), question, *options],
        f"/app/news/{told['id']}": [told["category"]],
        "/app/news": [whole["summary"], *(category.lower() for category in categories[-20:])],
        "/app/shop": descriptions,
        "/app/totem": names,
    }


FIELDS: dict[str, Callable[[World, Cast], Awaitable[Pages]]] = {
    "people": people,
    "talk": talk,
    "looks": looks,
    "servers": servers,
    "offered": offered,
    "stories": stories,
}
