"""Wire: what is in memory is shown at once, and what has to be loaded by the rights that the user then has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from persistence.connection import Connection
from routes.chat.channels import READ
from routes.live.session import Session
from tests.support.locks import held_up
from tests.support.websocket import Client, Closed
from tests.support.world import Player, Room, World, open_world

SEES_CAPES = "capes:moderate"

ROWS_OF = {"conversation": "conversations", "moderation": "capes"}
"""{channel: a table that is read when it is loaded}"""


@asynccontextmanager
async def after_restart(database_url: str, folder: Path) -> AsyncIterator[tuple[World, Player, Room]]:
    """A service that has nothing in memory, and a user with a conversation and the right to see capes."""
    async with open_world(database_url, folder, rate_limits="off") as world:
        ann, ben = await world.players("Ann", "Ben")
        room = await ann.talk_to(ben)
        await world.grant(ann, SEES_CAPES)
    async with open_world(database_url, folder) as world:
        yield world, Player(world, ann.id, ann.name, world.token(ann.id, ann.name)), room


@pytest.mark.one_node(because="it looks into the session of a socket")
async def test_what_is_in_memory_is_shown_at_once(database_url: str, tmp_path: Path) -> None:
    async with (
        after_restart(database_url, tmp_path) as (world, ann, room),
        ann.live("/v1/social/live?channels=") as client,
    ):
        await client.receive_until(type="hello")
        (socket,) = world.service.sockets.of_user(ann.id)
        session = Session(world.service, socket, await world.service.authenticator.user(ann.token or ""))
        loading = session.subscribe(room.channel)
        assert loading is not None
        await loading
        assert session.subscribe(room.channel) is None
        for _ in range(2):
            assert (await client.receive_json())["type"] == "snapshot"


@pytest.mark.parametrize("channel", ["conversation", "moderation"])
async def test_who_loses_a_right_after_asking_is_not_shown_what_is_loaded(
    database_url: str, tmp_path: Path, channel: str
) -> None:
    """Its rows are locked from before the channel is asked for until the socket has heard of the loss."""
    async with (
        after_restart(database_url, tmp_path) as (world, ann, room),
        ann.live("/v1/social/live?channels=inbox") as client,
    ):
        await client.receive_until(type="snapshot", channel="inbox")

        async def lock(conn: Connection) -> None:
            await conn.execute(f"LOCK TABLE {ROWS_OF[channel]}")

        async def ask() -> None:
            name = room.channel if channel == "conversation" else channel
            await client.send_json({"id": 1, "op": "subscribe", "channel": name})

        async def lose() -> None:
            for node in (SEES_CAPES, READ):
                await world.grant(ann, node, negated=True)
            lost = await client.receive_json()
            assert (lost["type"], lost["channel"]) == ("unsubscribed", "inbox")

        await held_up(world.service.database, lock, ask, lose)
        await is_refused(client)


@pytest.mark.one_node(because="one socket tells when the node of the other has heard of the loss")
async def test_who_loses_a_right_before_their_stream_is_loaded_is_shown_nothing(
    database_url: str, tmp_path: Path
) -> None:
    """Its rows are locked from before it is opened until the node has heard of the loss."""
    async with (
        after_restart(database_url, tmp_path) as (world, ann, room),
        ann.live(f"/v1/social/live?channels={room.channel}") as other,
    ):
        await other.receive_until(type="snapshot", channel=room.channel)

        async def lock(conn: Connection) -> None:
            await conn.execute("LOCK TABLE conversations")

        async def open_inbox() -> None:
            async with ann.live("/v1/social/chat/live") as stream:
                with pytest.raises(Closed) as closed:
                    await stream.receive()
                assert closed.value.code == 4403

        async def lose() -> None:
            await world.grant(ann, READ, negated=True)
            await other.receive_until(type="unsubscribed", channel=room.channel)

        await held_up(world.service.database, lock, open_inbox, lose)


async def is_refused(client: Client) -> None:
    """The next frame refuses what was asked for, and nothing follows."""
    reply = await client.receive_json()
    assert (reply["type"], reply.get("error", {}).get("code")) == ("reply", "FORBIDDEN")
    await client.send_json({"id": 2, "op": "ping"})
    assert (await client.receive_json())["type"] == "pong"
