"""Wire: how many bytes of messages one user may leave behind in a day, however they are sent."""

from typing import Any

import pytest

from actors.chat.commands import MAX_CONTENT_CHARACTERS
from routes.chat.volume import ORDINARY_BYTES
from routes.rates import CHAT_BYTES
from tests.chat.play import poll_body
from tests.support.world import Player, World

pytestmark = pytest.mark.one_node(because="they count to the last byte")

LONG = "\N{DRAGON}" * MAX_CONTENT_CHARACTERS
"""16,000 bytes, which take twenty seconds to come back."""


def spend(world: World, player: Player, left_bytes: int) -> None:
    """Leave a user so many bytes of what they may write in a day."""
    world.service.limits.spend(CHAT_BYTES, player.id, world.clock.now_ms(), CHAT_BYTES.quota - left_bytes)


async def test_long_messages_use_up_a_day_and_ordinary_ones_do_not(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    first = await ann.say(room)
    spend(world, ann, 1)
    changed = await ann.do("PATCH", room.message(first["id"]), {"content": LONG}, status=200)
    assert changed["content"] == LONG

    refused = await ann.ask("POST", room.messages, {"content": LONG})
    assert (refused.status_code, refused.json()["code"]) == (429, "RATE_LIMITED")
    assert refused.headers["ratelimit-policy"].startswith('"chat-bytes"')
    assert int(refused.headers["retry-after"]) > 0
    assert await ann.refused("PATCH", room.message(first["id"]), {"content": LONG}) == (429, "RATE_LIMITED")
    async with ann.live() as socket:
        for number, text in enumerate((LONG, "short")):
            await socket.send_json(
                {"id": number, "op": "send", "channel": room.channel, "data": {"content": text}}
            )
        long, short = [await socket.receive_until(type="reply") for _ in range(2)]
    assert (long["ok"], long["error"]["code"], short["ok"]) == (False, "RATE_LIMITED", True)

    await ann.do("POST", room.messages, {"content": "x" * ORDINARY_BYTES}, status=201)
    await ben.do("POST", room.messages, {"content": LONG}, status=201)
    world.advance(60_000)
    await ann.do("POST", room.messages, {"content": LONG}, status=201)


@pytest.mark.parametrize("more", ["mentions", "a poll"])
async def test_what_a_message_has_beside_its_text_counts(world: World, more: str) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben)
    body: dict[str, Any] = {"content": f"<@user:{ben.id}> " + "é" * 300, "mentions": [{"id": ben.id}]}
    if more == "a poll":
        body = {"poll": poll_body(question="é" * 300, options=[{"label": "é" * 100} for _ in range(10)])}
    spend(world, ann, -100_000)
    assert await ann.refused("POST", room.messages, body) == (429, "RATE_LIMITED")
