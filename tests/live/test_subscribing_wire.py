"""Wire: what is in memory is shown at once, and what has to be loaded by the rights that the user then has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from routes.chat.channels import READ
from routes.live.session import Session
from tests.support.websocket import Client
from tests.support.world import Player, open_world


@asynccontextmanager
async def asking(database_url: str, folder: Path) -> AsyncIterator[tuple[Session, Client, str]]:
    """A session of a user's socket, the socket, and the channel of a conversation of theirs that is not in memory."""
    async with open_world(database_url, folder, rate_limits="off") as world:
        ann, ben = await world.players("Ann", "Ben")
        name = (await ann.talk_to(ben)).channel
    async with open_world(database_url, folder) as world:
        ann, service = Player(world, ann.id, ann.name, world.token(ann.id, ann.name)), world.service
        async with ann.live("/v1/social/live?channels=") as client:
            await client.receive_until(type="hello")
            (socket,) = service.sockets.of_user(ann.id)
            user = await service.authenticator.user(ann.token or "")
            yield Session(service, socket, user), client, name


@pytest.mark.one_node(because="it looks into the session of a socket")
async def test_what_is_in_memory_is_shown_at_once(database_url: str, tmp_path: Path) -> None:
    async with asking(database_url, tmp_path) as (session, client, name):
        loading = session.subscribe(name)
        assert loading is not None
        await loading
        assert session.subscribe(name) is None
        for _ in range(2):
            assert (await client.receive_json())["type"] == "snapshot"


@pytest.mark.one_node(because="it looks into the session of a socket")
async def test_who_loses_a_right_after_asking_is_not_shown_what_is_loaded(
    database_url: str, tmp_path: Path
) -> None:
    async with asking(database_url, tmp_path) as (session, client, name):
        loading = session.subscribe(name)
        assert loading is not None
        session.recheck(replace(session.access, negated=frozenset({READ})))
        await loading
        told = await client.receive_until(type="unsubscribed")
        assert (told["channel"], told["code"]) == (name, "FORBIDDEN")
