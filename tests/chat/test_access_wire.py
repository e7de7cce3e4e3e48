"""Wire: who may do what; every chat route with every sort of caller.

A row says the route, the node that gates it, and what the group's owner (who wrote the message) and another
participant are answered. What everybody else is answered follows from the contract, §1 and §2.
"""

import base64
import json
from typing import Any, NamedTuple

import pytest

from tests.support.one_world import in_one_world
from tests.support.websocket import Refused, connect
from tests.support.world import CONVERSATIONS, Player, Room, World

READ, WRITE = "social:chat.read", "social:chat.write"

ANYBODY = "/v1/social/chat"
ONE = f"{CONVERSATIONS}/CONVERSATION"
MESSAGE = f"{ONE}/messages/MESSAGE"


class Row(NamedTuple):
    method: str
    path: str
    node: str
    owner: int
    member: int
    body: Any = None


FILE = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": base64.b64encode(b"a").decode()}

ROWS = [
    Row("GET", CONVERSATIONS, READ, 200, 200),
    Row("POST", CONVERSATIONS, WRITE, 422, 422, {"kind": "direct", "participantIds": []}),
    Row("GET", ONE, READ, 200, 200),
    Row("PATCH", ONE, WRITE, 200, 403, {"title": "x"}),
    Row("GET", f"{ONE}/participants", READ, 200, 200),
    Row("POST", f"{ONE}/participants", WRITE, 200, 403, {"userIds": ["OTHER"]}),
    Row("DELETE", f"{ONE}/participants/OTHER", WRITE, 204, 403),
    Row("GET", f"{ONE}/messages", READ, 200, 200),
    Row("POST", f"{ONE}/messages", WRITE, 201, 201, {"content": "hi"}),
    Row("PATCH", MESSAGE, WRITE, 200, 403, {"content": "hi"}),
    Row("DELETE", MESSAGE, WRITE, 200, 403),
    Row("GET", f"{MESSAGE}/revisions", READ, 200, 200),
    Row("POST", f"{MESSAGE}/poll/vote", WRITE, 200, 200, {"optionIds": ["1"]}),
    Row("POST", f"{MESSAGE}/poll/close", WRITE, 200, 403),
    Row("PUT", f"{ONE}/read", WRITE, 200, 200, {"messageId": "MESSAGE"}),
    Row("POST", f"{ONE}/typing", WRITE, 204, 204),
    Row("GET", f"{ONE}/events", READ, 200, 200),
    Row("POST", f"{ONE}/attachments", WRITE, 201, 201, FILE),
    Row("GET", f"{ONE}/attachments/ATTACHMENT", READ, 200, 200),
]

STREAMS = [f"{ONE}/live", f"{ANYBODY}/live", "/v1/social/live"]


class Scene(NamedTuple):
    """A group of Ann (its owner), Ben and Oda, with a message of Ann's that has a poll and a file."""

    world: World
    ann: Player
    ben: Player
    ids: dict[str, str]

    def fill(self, value: Any) -> Any:
        """The value with its placeholders replaced."""
        text = json.dumps(value)
        for name, id in self.ids.items():
            text = text.replace(name, id)
        return json.loads(text)


async def a_scene(world: World) -> Scene:
    ann, ben, oda = await world.players("Ann", "Ben", "Oda")
    room = await ann.talk_to(ben, oda)
    kept = await ann.do("POST", f"{room.path}/attachments", FILE)
    poll = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}
    sent = await ann.do("POST", room.messages, {"poll": poll, "attachmentIds": [kept["id"]]})
    ids = {"CONVERSATION": room.id, "MESSAGE": sent["id"], "ATTACHMENT": kept["id"], "OTHER": oda.id}
    return Scene(world, ann, ben, ids)


def name_of(row: Row) -> str:
    return f"{row.method} {row.path.removeprefix('/v1/social/chat')}"


@in_one_world("row", ROWS, ids=name_of)
async def test_each_route_with_each_caller(world: World, row: Row) -> None:
    scene = await a_scene(world)
    path, body = scene.fill(row.path), scene.fill(row.body)
    concerns_one = ONE in row.path

    async def answer(player: Player, where: str = path) -> tuple[int, Any]:
        response = await player.ask(row.method, where, body)
        return response.status_code, problem_of(response.content)

    # No credentials, broken ones, and ones that were good once.
    assert await answer(world.nobody()) == (401, "UNAUTHENTICATED")
    assert await answer(Player(world, "", "", "nonsense")) == (401, "UNAUTHENTICATED")
    late = await world.player("Late", ttl_seconds=1, known=False)
    world.clock.advance(1_001)
    assert await answer(late) == (401, "TOKEN_EXPIRED")

    # A stranger's conversation does not exist, as one that nobody has.
    stranger = await world.player("Stranger")
    if concerns_one:
        assert await answer(stranger) == (404, "CONVERSATION_NOT_FOUND")
        for id in ("0" * 24, "nonsense", scene.ids["CONVERSATION"] + "0"):
            where = path.replace(scene.ids["CONVERSATION"], id)
            assert await answer(scene.ann, where) == (404, "CONVERSATION_NOT_FOUND")

    assert (await answer(scene.ben))[0] == row.member
    assert (await answer(scene.ann))[0] == row.owner

    # The node is asked for before membership.
    for player in (scene.ben, stranger):
        await world.grant(player, row.node, negated=True)
        assert await answer(player) == (403, "FORBIDDEN")


def problem_of(content: bytes) -> str | None:
    """The code of a problem document."""
    if not content.startswith(b"{"):
        return None
    code = json.loads(content).get("code")
    return code if isinstance(code, str) else None


@in_one_world("path", STREAMS)
async def test_each_stream_with_each_caller(world: World, path: str) -> None:
    scene = await a_scene(world)
    url = world.url + scene.fill(path)

    async def refusal(token: str | None, where: str = url, **options: Any) -> tuple[int, str]:
        try:
            async with connect(where, token=token, **options):
                pytest.fail("it was let in")
        except Refused as refused:
            return refused.status, refused.problem["code"]

    assert await refusal(None) == (401, "UNAUTHENTICATED")
    assert await refusal("nonsense") == (401, "UNAUTHENTICATED")
    assert await refusal(None, f"{url}?access_token={scene.ann.token}") == (400, "TOKEN_IN_QUERY")
    late = await world.player("Late", ttl_seconds=1, known=False)
    world.clock.advance(1_001)
    assert await refusal(late.token) == (401, "TOKEN_EXPIRED")
    evil = [("origin", "http://evil.example")]
    assert await refusal(scene.ann.token, headers=evil) == (403, "FORBIDDEN")
    stranger = await world.player("Stranger")
    if ONE in path:
        assert await refusal(stranger.token) == (404, "CONVERSATION_NOT_FOUND")
        for id in ("0" * 24, "nonsense"):
            where = url.replace(scene.ids["CONVERSATION"], id)
            assert await refusal(scene.ann.token, where) == (404, "CONVERSATION_NOT_FOUND")
        assert await refusal(scene.ann.token, f"{url}?limit=x") == (400, "BAD_QUERY")
    for player in (scene.ann, scene.ben):
        async with connect(url, token=player.token) as socket:
            assert await socket.receive_json()
    # A browser cannot set headers: the token comes as a subprotocol.
    packed = base64.urlsafe_b64encode((scene.ann.token or "").encode()).decode().rstrip("=")
    offered = ["svc.v1", f"svc-bearer.{packed}"]
    async with connect(url, subprotocols=offered) as socket:
        assert socket.subprotocol == "svc.v1"
        assert await socket.receive_json()
    async with connect(url, subprotocols=offered[1:]) as socket:
        assert socket.subprotocol == offered[1]
    await world.grant(scene.ben, READ, negated=True)
    assert await refusal(scene.ben.token) == (403, "FORBIDDEN")


async def test_a_stranger_cannot_tell_what_exists(world: World) -> None:
    """The whole answer is the same for a conversation of others and for one that nobody has."""
    scene = await a_scene(world)
    stranger = await world.player("Stranger")
    for row in ROWS:
        if ONE not in row.path:
            continue
        answers = []
        for id in (scene.ids["CONVERSATION"], "0" * 24):
            path = scene.fill(row.path).replace(scene.ids["CONVERSATION"], id)
            response = await stranger.ask(row.method, path, scene.fill(row.body))
            answers.append((response.status_code, {**response.json(), "requestId": ""}))
        assert answers[0] == answers[1]
        assert answers[0][1]["message"] == "conversation not found"


async def test_membership_is_asked_before_the_body(world: World) -> None:
    scene = await a_scene(world)
    stranger = await world.player("Stranger")
    room = Room(scene.ids["CONVERSATION"])
    assert await stranger.refused("POST", room.messages, content=b"{") == (404, "CONVERSATION_NOT_FOUND")
    assert await scene.ben.refused("POST", room.messages, content=b"{") == (400, "MALFORMED_JSON")
    assert await scene.ben.refused("POST", room.path) == (405, "METHOD_NOT_ALLOWED")


async def test_who_left_is_a_stranger_at_once(world: World) -> None:
    scene = await a_scene(world)
    room = Room(scene.ids["CONVERSATION"])
    await scene.ben.say(room)
    await scene.ann.do("DELETE", f"{room.path}/participants/{scene.ben.id}")
    for method, path, body in (
        ("GET", room.messages, None),
        ("POST", room.messages, {"content": "still here"}),
        ("GET", f"{room.path}/attachments/{scene.ids['ATTACHMENT']}", None),
        ("GET", f"{room.path}/events", None),
    ):
        assert await scene.ben.refused(method, path, body) == (404, "CONVERSATION_NOT_FOUND")
    assert scene.ids["CONVERSATION"] not in {
        one["id"] for one in (await scene.ben.get(CONVERSATIONS))["items"]
    }
