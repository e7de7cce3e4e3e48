"""Wire: an Idempotency-Key makes each effect happen once, whatever the route (contract §3)."""

import base64
from typing import Any

import trio

from tests.support.one_world import in_one_world
from tests.support.world import CONVERSATIONS, Player, Room, World

FILE = {"fileName": "a.txt", "contentType": "text/plain", "dataBase64": base64.b64encode(b"a").decode()}
POLL = {"question": "?", "options": [{"label": "a"}, {"label": "b"}]}


async def a_group(world: World) -> tuple[Player, Player, Room, dict[str, str]]:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben, kind="group")
    sent = await ann.do("POST", room.messages, {"poll": POLL})
    return ann, ben, room, {"BEN": ben.id, "CID": cid.id, "MESSAGE": sent["id"], "ROOM": room.path}


def filled(value: Any, ids: dict[str, str]) -> Any:
    """The value with its placeholders replaced."""
    if isinstance(value, dict):
        return {name: filled(member, ids) for name, member in value.items()}
    if isinstance(value, list):
        return [filled(member, ids) for member in value]
    if isinstance(value, str):
        for name, id in ids.items():
            value = value.replace(name, id)
    return value


@in_one_world(
    ("method", "path", "body"),
    [
        ("POST", CONVERSATIONS, {"kind": "direct", "participantIds": ["BEN"]}),
        ("POST", "ROOM/messages", {"content": "hi"}),
        ("POST", "ROOM/messages/MESSAGE/poll/vote", {"optionIds": ["1"]}),
        ("POST", "ROOM/messages/MESSAGE/poll/close", None),
        ("POST", "ROOM/attachments", FILE),
        ("POST", "ROOM/participants", {"userIds": ["CID"]}),
        ("PUT", "ROOM/read", {"messageId": "MESSAGE"}),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_a_repetition_is_answered_as_the_first(world: World, method: str, path: str, body: Any) -> None:
    ann, ben, _, ids = await a_group(world)
    who = ben if method == "PUT" else ann
    where, said = filled(path, ids), filled(body, ids)
    key = {"idempotency-key": "a-key"}
    first = await who.ask(method, where, said, headers=key)
    again = await who.ask(method, where, said, headers=key)
    assert first.status_code in {200, 201}, first.text
    assert again.headers.get("idempotent-replayed") == "true"
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    if said is not None:
        other = await who.ask(method, where, {**said, "more": 1}, headers=key)
        assert (other.status_code, other.json()["code"]) == (422, "IDEMPOTENCY_KEY_REUSED")


async def test_many_at_once_are_one(world: World) -> None:
    ann, _, room, _ = await a_group(world)
    answers: list[tuple[int, Any]] = []

    async def post() -> None:
        response = await ann.ask("POST", room.messages, {"content": "once"}, headers={"idempotency-key": "k"})
        answers.append((response.status_code, response.json()))

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(post)
    posted = [message for status, message in answers if status == 201]
    assert posted
    assert all(message == posted[0] for message in posted)
    assert {status for status, _ in answers} <= {201, 409}
    said = [item["content"] for item in (await ann.get(room.messages))["items"]]
    assert said.count("once") == 1


async def test_a_refusal_is_not_kept(world: World) -> None:
    ann, ben, room, _ = await a_group(world)
    key = {"idempotency-key": "k"}
    refused = await ben.ask("PUT", f"{room.path}/read", {"messageId": "0" * 24}, headers=key)
    assert refused.status_code == 404
    # The key is free again, also for another body.
    sent = await ann.say(room)
    done = await ben.ask("PUT", f"{room.path}/read", {"messageId": sent["id"]}, headers=key)
    assert done.status_code == 200
    # And everybody's keys are their own.
    assert (await ann.ask("POST", room.messages, {"content": "x"}, headers=key)).status_code == 201
