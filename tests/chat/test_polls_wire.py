"""Wire: polls, from the question to the last vote."""

import secrets
from pathlib import Path
from typing import Any

import msgspec
import pytest
import trio

from actors.chat.commands import MessageDraft, PostMessage
from actors.chat.window import WINDOW_LINES
from actors.ids import new_object_id
from persistence.connection import Connection
from routes.chat.parts import CHAT_KINDS
from tests.chat.play import poll_body
from tests.support.one_world import in_one_world
from tests.support.world import Player, Room, World, open_world


async def asked(world: World, **more: object) -> tuple[Player, Player, Room, Any]:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    return ann, ben, room, await ann.do("POST", room.messages, {"poll": poll_body(**more)}, status=201)


def chosen(message: Any) -> list[tuple[int, bool]]:
    return [(option["votes"], option["selected"]) for option in message["poll"]["options"]]


async def test_a_choice_is_replaced_and_withdrawn(world: World) -> None:
    ann, ben, room, sent = await asked(world)
    poll = sent["poll"]
    assert (poll["question"], poll["multiple"], poll["closed"]) == ("Where?", False, False)
    assert [option["label"] for option in poll["options"]] == ["Here", "There"]
    here, there = (option["id"] for option in poll["options"])
    vote = f"{room.message(sent['id'])}/poll/vote"
    assert chosen(await ben.do("POST", vote, {"optionIds": [here]}, status=200)) == [(1, True), (0, False)]
    assert chosen(await ben.do("POST", vote, {"optionIds": [there]})) == [(0, False), (1, True)]
    after = await ann.do("POST", vote, {"optionIds": [there]})
    assert chosen(after) == [(0, False), (2, True)]
    assert (after["poll"]["totalVotes"], after["poll"]["totalVoters"]) == (2, 2)
    assert chosen(await ben.do("POST", vote, {"optionIds": []})) == [(0, False), (1, False)]
    # Each sees their own choice, in pages too.
    assert chosen((await ann.get(room.messages))["items"][0]) == [(0, False), (1, True)]
    page = await ben.get(room.messages)
    assert chosen(page["items"][0]) == [(0, False), (1, False)]
    assert page["conversation"]["lastEvent"]["type"] == "poll_voted"
    assert page["conversation"]["lastMessagePreview"] == "Where?"


async def test_several_options_when_the_poll_says_so(world: World) -> None:
    _, ben, room, sent = await asked(world, multiple=True)
    vote = f"{room.message(sent['id'])}/poll/vote"
    both = await ben.do("POST", vote, {"optionIds": ["1", "2"]})
    assert chosen(both) == [(1, True), (1, True)]
    assert (both["poll"]["totalVotes"], both["poll"]["totalVoters"]) == (2, 1)


@in_one_world(
    "option_ids",
    [["1", "2"], ["3"], ["nonsense"], ["1", "1"], [str(number) for number in range(1000)]],
    ids=len,
)
async def test_choices_that_cannot_be(world: World, option_ids: list[str]) -> None:
    _, ben, room, sent = await asked(world)
    vote = f"{room.message(sent['id'])}/poll/vote"
    response = await ben.ask("POST", vote, {"optionIds": option_ids})
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert chosen((await ben.get(room.messages))["items"][0]) == [(0, False), (0, False)]


@in_one_world("body", [{}, {"optionIds": None}, {"optionIds": "1"}, {"optionIds": [1]}], ids=str)
async def test_votes_that_are_none(world: World, body: dict[str, object]) -> None:
    _, ben, room, sent = await asked(world)
    assert await ben.refused("POST", f"{room.message(sent['id'])}/poll/vote", body) == (
        422,
        "VALIDATION_FAILED",
    )


async def test_labels_that_differ_in_case_are_two(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    sent = await ann.say(await ann.talk_to(ben), poll=poll_body("A", " a "))
    assert [option["label"] for option in sent["poll"]["options"]] == ["A", "a"]


@in_one_world(
    ("poll", "pointer"),
    [
        (poll_body("Same", "Same"), "/poll/options/1/label"),
        (poll_body("One"), "/poll/options"),
        (poll_body(*(f"n{number}" for number in range(11))), "/poll/options"),
        (poll_body("", "Two"), "/poll/options/0/label"),
        (poll_body("x" * 101, "Two"), "/poll/options/0/label"),
        ({**poll_body(), "question": " "}, "/poll/question"),
        ({**poll_body(), "question": "x" * 301}, "/poll/question"),
        ({"options": poll_body()["options"]}, "/poll/question"),
        ({"question": "Where?"}, "/poll/options"),
        (poll_body(expiresAtMs=1), "/poll/expiresAtMs"),
        (poll_body(expiresAtMs=2**53 - 1), "/poll/expiresAtMs"),
        (poll_body(expiresAtMs="soon"), "/poll/expiresAtMs"),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_polls_that_cannot_be(world: World, poll: dict[str, object], pointer: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    response = await ann.ask("POST", room.messages, {"poll": poll})
    assert (response.status_code, response.json()["code"]) == (422, "VALIDATION_FAILED")
    assert [error["pointer"] for error in response.json()["errors"]] == [pointer]


async def test_fifty_votes_at_once_are_one_choice(world: World) -> None:
    _, ben, room, sent = await asked(world)
    vote = f"{room.message(sent['id'])}/poll/vote"

    async def cast(option: str) -> None:
        await ben.do("POST", vote, {"optionIds": [option]}, status=200)

    async with trio.open_nursery() as nursery:
        for number in range(50):
            nursery.start_soon(cast, "12"[number % 2])
    poll = (await ben.get(room.messages))["items"][0]["poll"]
    assert (poll["totalVotes"], poll["totalVoters"]) == (1, 1)
    assert sum(option["selected"] for option in poll["options"]) == 1


async def test_a_poll_is_closed_by_its_author_or_the_owner(world: World) -> None:
    ann, ben, room, _ = await asked(world)
    sent = await ben.do("POST", room.messages, {"poll": poll_body()})
    cid = await world.player("Cid")
    await ann.do("POST", f"{room.path}/participants", {"userIds": [cid.id]})
    close = f"{room.message(sent['id'])}/poll/close"
    assert await cid.refused("POST", close) == (403, "FORBIDDEN")
    closed = (await ann.do("POST", close, status=200))["poll"]
    assert (closed["closed"], closed["closeReason"]) == (True, "manual")
    assert closed["closedAt"] is not None
    assert await ben.refused("POST", close) == (409, "POLL_CLOSED")
    vote = f"{room.message(sent['id'])}/poll/vote"
    assert await ben.refused("POST", vote, {"optionIds": ["1"]}) == (409, "POLL_CLOSED")


async def test_a_message_without_a_poll_takes_no_vote(world: World) -> None:
    ann, _, room, _ = await asked(world)
    plain = await ann.say(room)
    for message_id in (plain["id"], "0" * 24, "nonsense"):
        vote = f"{room.message(message_id)}/poll/vote"
        assert await ann.refused("POST", vote, {"optionIds": []}) == (404, "NOT_FOUND")


async def test_a_poll_expires_to_the_millisecond(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    expires_at_ms = world.clock.now_ms() + 60_000
    sent = await ann.do("POST", room.messages, {"poll": poll_body(expiresAtMs=expires_at_ms)})
    assert sent["poll"]["expiresAtMs"] == expires_at_ms
    vote = f"{room.message(sent['id'])}/poll/vote"
    await ben.do("POST", vote, {"optionIds": ["1"]}, status=200)
    world.clock.advance(60_000)
    assert await ben.refused("POST", vote, {"optionIds": ["2"]}) == (409, "POLL_CLOSED")
    poll = (await ann.get(room.messages))["items"][0]["poll"]
    assert (poll["closed"], poll["closeReason"], poll["totalVotes"]) == (True, "expired", 1)
    assert poll["closedAt"] == poll["expiresAt"]


async def test_expiry_is_announced_by_the_conversation_itself(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    async with ben.live("/v1/social/live?channels=" + room.channel) as socket:
        await socket.receive_until(type="snapshot")
        body = {"poll": poll_body(expiresAtMs=world.clock.now_ms() + 600_000)}
        await ann.do("POST", room.messages, body)
        made = await socket.receive_until(type="snapshot")
        assert made["data"]["items"][0]["poll"]["closed"] is False
        world.advance(600_000)
        told = await socket.receive_until(type="snapshot")
        assert told["data"]["items"][0]["poll"]["closeReason"] == "expired"


ROUNDS = 3
VOTERS = 10


@pytest.mark.slow
async def test_no_vote_is_lost_when_many_vote_at_once_in_a_poll_older_than_the_window(
    database_url: str, tmp_path: Path
) -> None:
    async with open_world(database_url, tmp_path, rate_limits="off") as world:
        ann, *others = await world.players("Ann", *(f"Voter {n}" for n in range(VOTERS - 1)))
        room = await ann.talk_to(*others, kind="group")
        polls = [
            await ann.do("POST", room.messages, {"poll": poll_body()}, status=201) for _ in range(ROUNDS)
        ]
        for _ in range(WINDOW_LINES):
            await _post(world, ann, room)
        for poll in polls:
            statuses: list[int] = []

            async def vote(player: Player, option: str, id: str) -> None:
                body = {"optionIds": [option]}
                statuses.append((await player.ask("POST", f"{room.message(id)}/poll/vote", body)).status_code)  # noqa: B023

            async with trio.open_nursery() as nursery:
                for n, player in enumerate([ann, *others]):
                    nursery.start_soon(vote, player, str(1 + n % 2), poll["id"])
            assert statuses == [200] * VOTERS
            stored, message = await world.service.database.read(_votes_of, poll["id"])
            assert stored == VOTERS
            assert [option["votes"] for option in message["poll"]["options"]] == [VOTERS // 2] * 2
            assert message["poll"]["totalVoters"] == VOTERS


async def _post(world: World, player: Player, room: Room) -> None:
    """A message past the rate limits."""
    service = world.service
    posting = PostMessage(
        player.id, new_object_id(world.clock.now_ms(), secrets.token_bytes), MessageDraft(content="later")
    )
    await service.system.ask(service.of(CHAT_KINDS).conversation, room.id, posting)


async def _votes_of(conn: Connection, message_id: str) -> tuple[int, Any]:
    """How many votes have a row, and the message as it is stored."""
    count = await conn.fetchval("SELECT count(*) FROM poll_votes WHERE message_id = $1", message_id)
    record = await conn.fetchval("SELECT record FROM messages WHERE id = $1", message_id)
    return int(count), msgspec.json.decode(record)
