"""Wire: what the names in the address of a handshake can cost, however many there are and however soon it is left."""

from functools import partial
from pathlib import Path

import pytest
import trio

from persistence.connection import Connection
from routes.edge.websocket.close_codes import CloseCode
from routes.live.connecting import MAX_MISSES, subscribe_all
from routes.live.session import MAX_SUBSCRIPTIONS, Session
from tests.support.locks import crossed
from tests.support.world import World, open_world

LIVE = "/v1/social/live?channels="


def unknown(count: int) -> list[str]:
    """The names of conversations that there are not."""
    return [f"conversation:{number:024x}" for number in range(count)]


async def rooms_of_others(database_url: str, folder: Path, count: int) -> list[str]:
    """The names of conversations that are not in memory, and that no user but their owners may see."""
    async with open_world(database_url, folder, rate_limits="off") as world:
        ben, *others = await world.players("Ben", *(f"Cid{number}" for number in range(count)))
        return [(await other.talk_to(ben)).channel for other in others]


async def test_names_of_nothing_are_looked_up_a_few_times_only(world: World) -> None:
    ann = await world.player("Ann")
    names = unknown(MAX_SUBSCRIPTIONS + 10)
    async with ann.live(LIVE + ",".join(names)) as socket:
        await socket.receive_until(type="hello")
        told = [await socket.receive_json() for _ in names]
        await socket.send_json({"op": "ping", "id": 1})
        assert (await socket.receive_json())["type"] == "pong"
    assert [(one["type"], one["channel"]) for one in told] == [("unsubscribed", name) for name in names]
    assert [one["code"] for one in told] == [
        *["CONVERSATION_NOT_FOUND"] * MAX_MISSES,
        *["RATE_LIMITED"] * (MAX_SUBSCRIPTIONS - MAX_MISSES),
        *["QUOTA_EXCEEDED"] * 10,
    ]


@pytest.mark.one_node(because="it counts what one node loads")
async def test_what_is_not_looked_up_is_not_loaded(database_url: str, tmp_path: Path) -> None:
    names = await rooms_of_others(database_url, tmp_path, MAX_MISSES + 3)
    async with open_world(database_url, tmp_path) as world:
        ann = await world.player("Ann")
        async with ann.live(LIVE + ",".join(names)) as socket:
            await socket.receive_until(type="hello")
            told = [(await socket.receive_json())["code"] for _ in names]
        assert told == ["CONVERSATION_NOT_FOUND"] * MAX_MISSES + ["RATE_LIMITED"] * 3
        assert world.service.system.counters.activations == MAX_MISSES


async def test_a_few_names_of_nothing_hide_no_others(world: World) -> None:
    ann, ben = await world.players("Ann", "Ben")
    room = await ann.talk_to(ben, kind="group")
    names = [*unknown(MAX_MISSES - 1), room.channel, "nope", "inbox"]
    async with ann.live(LIVE + ",".join(names)) as socket:
        await socket.receive_until(type="hello")
        told = [await socket.receive_json() for _ in names]
    assert [one["type"] for one in told[MAX_MISSES - 1 :]] == ["snapshot", "unsubscribed", "unsubscribed"]
    assert [one.get("code") for one in told[MAX_MISSES:]] == ["NOT_FOUND", "RATE_LIMITED"]


@pytest.mark.one_node(because="it counts what one node loads")
async def test_nothing_more_is_loaded_for_a_socket_that_has_closed(database_url: str, tmp_path: Path) -> None:
    """It closes while the first of its channels is loaded, which waits for a lock."""
    names = await rooms_of_others(database_url, tmp_path, 5)
    async with open_world(database_url, tmp_path) as world:
        ann, service = await world.player("Ann"), world.service
        here = trio.lowlevel.current_trio_token()
        async with ann.live(LIVE) as client:
            await client.receive_until(type="hello")
            (socket,) = service.sockets.of_user(ann.id)
            session = Session(service, socket, await service.authenticator.user(ann.token or ""))

            async def lock(conn: Connection) -> None:
                await conn.execute("LOCK TABLE conversations")

            async def leave(_conn: Connection) -> None:
                here.run_sync_soon(partial(socket.close, CloseCode.NORMAL, "bye"))

            await crossed(service.database, lock, leave, partial(subscribe_all, session, names))
            assert service.system.counters.activations == 1
