"""Wire: a handshake that is refused is answered as AsyncAPI says of its channel."""

from typing import Any

import pytest

from routes import TABLE
from tests.support.spec import spec
from tests.support.websocket import Refused
from tests.support.world import Player, World, world

__all__ = ["world"]

pytestmark = pytest.mark.both_edges

LIVE = "/v1/social/live"


async def _refused(player: Player, path: str, **options: Any) -> tuple[int, str]:
    """Status and code of a refused handshake; `Player.live` holds it against AsyncAPI."""
    with pytest.raises(Refused) as refused:
        async with player.live(path, **options):
            pass
    return refused.value.status, refused.value.problem["code"]


async def test_refusals_of_handshakes_are_described(world: World) -> None:
    ann, ben, cid = await world.players("Ann", "Ben", "Cid")
    room = await ann.talk_to(ben)
    await world.grant(cid, "social:chat.read", negated=True)
    origin = {"headers": [("origin", "https://elsewhere.example")]}
    assert await _refused(world.nobody(), LIVE) == (401, "UNAUTHENTICATED")
    assert await _refused(ann, f"{LIVE}?token=x") == (400, "TOKEN_IN_QUERY")
    assert await _refused(ann, f"{room.path}/live?limit=many") == (400, "BAD_QUERY")
    assert await _refused(ann, LIVE, **origin) == (403, "FORBIDDEN")
    assert await _refused(cid, "/v1/social/chat/live") == (403, "FORBIDDEN")
    eve = await world.player("Eve")
    assert await _refused(eve, f"{room.path}/live") == (404, "CONVERSATION_NOT_FOUND")
    for service in world.services:
        service.lifecycle.drain()
    assert await _refused(ann, LIVE) == (503, "DRAINING")


async def test_who_asks_for_a_socket_without_a_handshake_is_told_how(world: World) -> None:
    response = await world.nobody().ask("GET", LIVE)
    assert (response.status_code, response.headers["upgrade"]) == (426, "websocket")
    # Upgrade is of this connection alone, and has to say so (RFC 9110 §7.8): else a proxy would pass it on.
    assert "upgrade" in response.headers["connection"]


async def test_every_stream_takes_an_interval_and_nothing_else_for_one(world: World) -> None:
    (ann,) = await world.players("Ann")
    assert all(one.query is not None and "interval" in one.query.fields for one in TABLE.streams)
    for path in (one.path for one in TABLE.streams if not one.parameters):
        for wrong in ("abc", "1e3", "nan", "inf", "1.", ".5", ""):
            assert await _refused(ann, f"{path}?interval={wrong}") == (400, "BAD_QUERY"), (path, wrong)
        for interval in (-1, 0, 0.25, 2.5, 61, 60.5):
            async with ann.live(f"{path}?interval={interval}"):
                pass


def test_every_channel_says_what_it_refuses() -> None:
    for name, channel in spec().frames["channels"].items():
        refusals = channel["x-refusals"]
        assert {"400", "401", "403", "426", "429", "500", "503"} <= refusals.keys(), name
        assert ("404" in refusals) == ("parameters" in channel), name
