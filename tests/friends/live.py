"""What tests of friends that are watched share."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio

from actors.change import Change
from actors.friends.between import seen_between
from persistence.connection import Connection
from persistence.friends import links
from persistence.friends.visibilities import Visibility
from routes.changes import change_by_itself
from routes.friends.parts import FRIENDS_LIVE
from tests.friends import rows
from tests.support.spec import spec
from tests.support.websocket import Client
from tests.support.world import Player, World

LIVE = "/v1/social/friends/live"


QUIET_SECONDS = 0.4


async def befriend(world: World, one: Player, other: Player) -> None:
    """Make two friends, and tell who watches, as the rules of friends do."""
    await _relate(world, one, other, partial(rows.befriend, now_ms=world.clock.now_ms()))


async def unfriend(world: World, one: Player, other: Player) -> None:
    """End a friendship in the same way."""
    await _relate(world, one, other, links.remove)


async def _relate(
    world: World, one: Player, other: Player, write: Callable[[Connection, str, str], Awaitable[None]]
) -> None:
    async def unit(conn: Connection) -> Change[None]:
        await write(conn, one.id, other.id)
        return Change(None, (await seen_between(conn, one.id, other.id),))

    await change_by_itself(world.service, unit, about=None)


async def show_as(
    world: World, holder: Player, viewer: Player, visibility: Visibility, *, favorite: bool = False
) -> None:
    now_ms = world.clock.now_ms()
    await world.service.database.transact(rows.choose, holder.id, viewer.id, visibility, favorite, now_ms)
    for service in world.services:
        service.of(FRIENDS_LIVE).changed(holder.id, viewer.id)
        service.of(FRIENDS_LIVE).visibility_changed(holder.id, viewer.id, visibility)


@asynccontextmanager
async def watching(player: Player, path: str = LIVE) -> AsyncIterator[Client]:
    async with player.live(path) as socket:
        yield socket


async def frame(socket: Client) -> Any:
    received = await socket.receive_json()
    spec().check_frame("FriendsFrame", received)
    return received


async def assert_quiet(socket: Client) -> None:
    with pytest.raises(trio.TooSlowError):
        await socket.receive_text(patience_seconds=QUIET_SECONDS)


def online(received: Any) -> dict[str, bool]:
    """{name: online}, and that all places of a frame agree."""
    for friend in received["friends"]:
        player = friend["player"]
        assert (friend["friendId"], friend["name"]) == (player["id"], player["name"])
        for name in ("online", "status", "partyId"):
            assert friend[name] == player[name]
        assert friend["online"] == (friend["status"]["state"] == "ONLINE")
    states = {friend["name"]: friend["online"] for friend in received["friends"]}
    assert received["counts"]["online"] == sum(states.values())
    assert received["counts"]["total"] == len(states)
    return states
