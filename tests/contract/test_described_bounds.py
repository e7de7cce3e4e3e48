"""Wire: what OpenAPI says of a field is what its rule holds it to. At each bound a request is taken, and one beyond it
is a 422 there.

The bounds are read from the document: those that decoding checks are in it by themselves, those of rules by `ruled`.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from string import Template
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator

from tests.support.spec import spec
from tests.support.world import CONVERSATIONS, Player, World, world

__all__ = ["world"]

GROUP = f"{CONVERSATIONS}/$group"
SAY = f"POST {GROUP}/messages"
POLL = {"question": "Which?", "options": [{"label": "red"}, {"label": "blue"}]}
VOICE = "/v1/social/voice"
PRODUCTS = "POST /v1/admin/shop/products"
PRODUCT = {
    "slug": "glow-$n",
    "name": "Glow",
    "kind": "permission",
    "price": {"amount": 500, "currency": "EUR"},
    "grants": [{"node": "perk:glow-$n", "expiresInDays": 7}],
}
NEWS = "POST /v1/news"
ARTICLE = {"scope": {"type": "global"}, "title": "Hello", "body": "text"}
RELEASES = "POST /v1/versions/releases"
FILE = {"platform": "windows", "arch": "x64", "fileName": "setup.exe", "sizeBytes": 1_000}
RELEASE = {"scope": {"type": "launcher", "id": "main"}, "version": "1.0.$n"}

SIZES = (
    ("maxLength", 1), ("minLength", -1), ("maxItems", 1), ("minItems", -1), ("maximum", 1), ("minimum", -1),
)  # fmt: skip
"""(keyword, the way beyond)."""


MS_BETWEEN = 20 * 60_000
"""Time between two requests: none is refused for its rate."""


@dataclass(frozen=True)
class Bounded:
    """A field with its bounds.

    Args:
        line: method and path, with `$names` of what there is.
        body: in which it stands; `$n` is another number each time.
        pointer: the field.
        of_size: makes a value of a size; a number is its own.
    """

    line: str
    body: dict[str, Any]
    pointer: str
    of_size: Callable[[int], object] = "x".__mul__

    def __str__(self) -> str:
        return f"{self.line} {self.pointer}"


def _number(size: int) -> object:
    return size


def _labels(size: int) -> object:
    return [{"label": f"option {number}"} for number in range(size)]


def _address(size: int) -> object:
    return "https://files.example/".ljust(size, "x")


def _words(size: int) -> object:
    return [f"word{number}" for number in range(size)]


def _rights(size: int) -> object:
    return [{"node": f"perk:glow-{number}"} for number in range(size)]


def _files(size: int) -> object:
    kinds = [(f"1.0.{number}", f"part{number}.bin") for number in range(size)]
    return [FILE | {"kind": "delta", "fromVersion": version, "fileName": name} for version, name in kinds]


def _layers(size: int) -> object:
    return [{"pattern": "base", "color": "red"}] * size


SIZED = (
    Bounded(SAY, {"content": ""}, "/content"),
    Bounded(SAY, {"content": ""}, "/content", "\N{GRINNING FACE}".__mul__),
    Bounded(SAY, {"content": "x", "clientMessageId": ""}, "/clientMessageId"),
    Bounded(SAY, {"poll": POLL}, "/poll/question"),
    Bounded(SAY, {"poll": POLL}, "/poll/options", _labels),
    Bounded(SAY, {"poll": POLL}, "/poll/options/0/label"),
    Bounded(f"PATCH {GROUP}", {}, "/title"),
    Bounded(f"POST {CONVERSATIONS}", {"kind": "group", "participantIds": ["$ben", "$cid"]}, "/title"),
    Bounded("POST /v1/connect/servers/register", {"serverType": "sky"}, "/serverName"),
    Bounded("POST /v1/connect/networks", {}, "/name"),
    Bounded("POST /v1/profile/build-moe/banners", {"baseColor": "red"}, "/name"),
    Bounded("POST /v1/profile/build-moe/banners", {"baseColor": "red", "name": "One"}, "/patterns", _layers),
    Bounded("POST /v1/social/friends/requests", {"targetId": "$ben"}, "/note"),
    Bounded("POST /v1/social/friends/blocks", {"targetId": "$cid"}, "/reason"),
    Bounded(PRODUCTS, PRODUCT, "/name"),
    Bounded(PRODUCTS, PRODUCT, "/description"),
    Bounded(PRODUCTS, PRODUCT, "/imageUrl", _address),
    Bounded(PRODUCTS, PRODUCT, "/limit", _number),
    Bounded(PRODUCTS, PRODUCT | {"limit": 1}, "/price/amount", _number),
    Bounded(PRODUCTS, PRODUCT, "/grants", _rights),
    Bounded(PRODUCTS, PRODUCT, "/grants/0/expiresInDays", _number),
    Bounded("POST /v1/shop/checkout", {"items": [{"productId": "$product"}]}, "/items/0/quantity", _number),
    Bounded(NEWS, ARTICLE, "/title"),
    Bounded(NEWS, ARTICLE, "/summary"),
    Bounded(NEWS, ARTICLE, "/body"),
    Bounded(NEWS, ARTICLE, "/coverUrl", _address),
    Bounded(NEWS, ARTICLE, "/category"),
    Bounded(NEWS, ARTICLE, "/tags", _words),
    Bounded(NEWS, ARTICLE | {"tags": [""]}, "/tags/0"),
    Bounded(RELEASES, RELEASE, "/notes"),
    Bounded(RELEASES, RELEASE, "/rollout/percentage", _number),
    Bounded(RELEASES, RELEASE | {"version": "2.0.$n"}, "/artifacts", _files),
    Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/fileName"),
    Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/url", _address),
    Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/sizeBytes", _number),
)  # fmt: skip

IDS = (
    Bounded(f"PUT {GROUP}/read", {}, "/messageId"),
    Bounded(f"POST {CONVERSATIONS}", {"kind": "direct", "participantIds": [""]}, "/participantIds/0"),
    Bounded(f"POST {GROUP}/participants", {"userIds": [""]}, "/userIds/0"),
    Bounded(SAY, {"content": "x", "attachmentIds": [""]}, "/attachmentIds/0"),
    Bounded("POST /v1/social/friends/requests", {}, "/targetId"),
    Bounded("POST /v1/social/friends/blocks", {}, "/targetId"),
    Bounded("POST /v1/social/friends/reports", {}, "/targetId"),
    Bounded("POST /v1/social/party/invites", {}, "/targetId"),
    Bounded("PUT /v1/profile/capes/selection", {"source": "native"}, "/capeId"),
    Bounded("POST /v1/profile/public-servers/saved", {}, "/serverId"),
    Bounded("POST /v1/quests/daily-games/reroll", {}, "/questId"),
    Bounded("POST /v1/shop/checkout", {"items": [{"productId": "$product"}]}, "/recipientId"),
    Bounded(f"POST {VOICE}/channels/private", {}, "/targetId"),
    Bounded(f"POST {VOICE}/session/join", {}, "/channelId"),
    Bounded(f"POST {VOICE}/session/leave", {}, "/sessionId"),
    Bounded(NEWS, ARTICLE | {"scope": {"type": "network"}}, "/scope/id"),
)


FORMS = (
    (Bounded(PRODUCTS, PRODUCT, "/slug"), "a-slug-of-its-own", "A slug"),
    (Bounded(PRODUCTS, PRODUCT, "/price/currency"), "eUr", "EURO"),
    (Bounded("POST /v1/connect/servers/register", {"serverName": "Sky"}, "/serverType"), "sky_1", "s" * 33),
    (Bounded("POST /v1/connect/extensions", {"name": "Maps"}, "/extensionId"), "a.map-1", "maps."),
    (Bounded("POST /v1/profile/build-moe/banners", {"name": "One"}, "/baseColor"), "light_blue", "crimson"),
    (Bounded(NEWS, ARTICLE, "/slug"), "the-first", "a"),
    (Bounded(RELEASES, RELEASE, "/scope/id"), "Main.1_x", "main/1"),
    (Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/platform"), "darwin", "amiga"),
    (Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/arch"), "amd64", "z80"),
    (Bounded(RELEASES, RELEASE | {"artifacts": [FILE]}, "/artifacts/0/sha256"), "aB" * 32, "a" * 63),
)  # fmt: skip
"""(field, what it takes, what it does not)"""


class Scene:
    """Who asks, and what there is.

    Args:
        asker: may do everything.
        names: by which the rows call what there is.
    """

    def __init__(self, asker: Player, names: dict[str, str]) -> None:
        self._asker = asker
        self._names = names
        self._numbers = count(1)

    async def ask(self, field: Bounded, value: object) -> tuple[int, list[str]]:
        """Status, and the pointers of errors, of a request with a value of the field."""
        method, _, path = field.line.partition(" ")
        body = json.loads(json.dumps(field.body))
        _put(body, field.pointer, value)
        names = self._names | {"n": str(next(self._numbers))}
        text = Template(json.dumps(body)).substitute(names)
        world = self._asker.world
        world.clock.advance(MS_BETWEEN)
        headers = {"authorization": f"Bearer {world.token(self._asker.id, self._asker.name)}"}
        address = Template(path).substitute(names)
        response = await self._asker.ask(method, address, content=text.encode(), headers=headers)
        problem = response.json() if response.content else {}
        return response.status_code, [error["pointer"] for error in problem.get("errors") or ()]


def _put(body: Any, pointer: str, value: object) -> None:
    *steps, last = pointer[1:].split("/")
    for step in steps:
        body = body[int(step)] if isinstance(body, list) else body.setdefault(step, {})
    body[int(last) if isinstance(body, list) else last] = value


def _described(field: Bounded) -> dict[str, Any]:
    """What OpenAPI says of the field."""
    document = spec().document
    method, _, path = field.line.partition(" ")
    operation = document["paths"][path.replace("$group", "{conversationId}")][method.lower()]
    schema = operation["requestBody"]["content"]["application/json"]["schema"]
    for step in field.pointer[1:].split("/"):
        schema = _plain(schema)
        schema = schema["items"] if step.isdecimal() else schema["properties"][step]
    return _plain(schema)


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, without what null would be, and behind its reference."""
    schema = next((one for one in schema.get("anyOf", ()) if one.get("type") != "null"), schema)
    if "$ref" in schema:
        return spec().document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def _bounds(field: Bounded) -> Iterator[tuple[int, int]]:
    """Each bound of the field, and one beyond it."""
    described = _described(field)
    for keyword, way in SIZES:
        if keyword in described and described[keyword] + way >= 0:
            yield described[keyword], described[keyword] + way


@pytest.fixture
async def scene(world: World) -> Scene:
    asker = await world.super_admin()
    ben, cid = await world.players("Ben", "Cid")
    room = await asker.talk_to(ben, cid)
    product = await asker.do(
        "POST", PRODUCTS.partition(" ")[2], json.loads(json.dumps(PRODUCT).replace("$n", "0"))
    )
    return Scene(asker, {"group": room.id, "ben": ben.id, "cid": cid.id, "product": product["id"]})


async def test_a_request_is_taken_at_a_bound_and_refused_beyond(
    scene: Scene, subtests: pytest.Subtests
) -> None:
    for field in SIZED:
        bounds = list(_bounds(field))
        assert bounds, field
        for at, beyond in bounds:
            with subtests.test(f"{field}: {at}, not {beyond}"):
                status, pointers = await scene.ask(field, field.of_size(at))
                assert status < 300, pointers
                assert await scene.ask(field, field.of_size(beyond)) == (422, [field.pointer])


async def test_an_id_of_another_form_is_refused(scene: Scene, subtests: pytest.Subtests) -> None:
    for field in IDS:
        with subtests.test(str(field)):
            described = _described(field)
            assert described.get("format") == "uuid" or described.get("pattern") == "^[0-9A-Fa-f]{24}$"
            for malformed in ("", "0" * 23, "0" * 25, "g" * 24, "0" * 32):
                assert await scene.ask(field, malformed) == (422, [field.pointer])


async def test_a_text_of_another_form_is_refused(scene: Scene, subtests: pytest.Subtests) -> None:
    for field, taken, other in FORMS:
        with subtests.test(str(field)):
            described = Draft202012Validator(_described(field))
            assert (described.is_valid(taken), described.is_valid(other)) == (True, False)
            status, pointers = await scene.ask(field, taken)
            assert status < 300, pointers
            assert await scene.ask(field, other) == (422, [field.pointer])
