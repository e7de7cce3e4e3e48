"""A bounded load on processes of the service: users who post all the time, and sockets that watch."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx2
import trio

from routes.edge.identity.keys import Keys
from tests.support.speaker import Speaker
from tests.support.waiting import PATIENCE_SECONDS
from tests.support.websocket import Closed, connect

PAUSE_SECONDS = 0.05
"""The pause between two messages of a speaker, which bounds the load."""


@dataclass
class Load:
    """The counts of a load.

    Attributes:
        requests: how many requests were answered as they should.
        failures: lines about requests that were answered otherwise, or not at all.
        told: how many `reconnect` frames sockets have got.
        closed: the close codes of sockets.
        speakers: the users who post, and remember what was acknowledged.
    """

    requests: int = 0
    failures: list[str] = field(default_factory=list)
    told: int = 0
    closed: list[int] = field(default_factory=list)
    speakers: list[Speaker] = field(default_factory=list)


@asynccontextmanager
async def under_load(url: str, keys: Keys, *, speakers: int, sockets: int) -> AsyncIterator[Load]:
    """Run speakers, each with a connection that is kept alive, and sockets that connect again when they are closed.

    Once the block has ended, every speaker has had the answers to their last messages.
    """
    load, is_over = Load(), trio.Event()
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        for _ in range(speakers + sockets):
            load.speakers.append(Speaker(http, keys, 2))
            await load.speakers[-1].found(url)
    async with trio.open_nursery() as nursery, trio.open_nursery() as speaking:
        for speaker in load.speakers[:speakers]:
            speaking.start_soon(_speak, speaker, url, load, is_over)
        for speaker in load.speakers[speakers:]:
            nursery.start_soon(_listen, speaker, url, load)
        yield load
        is_over.set()
        with trio.fail_after(PATIENCE_SECONDS):
            while speaking.child_tasks:  # noqa: ASYNC110 - a nursery tells nobody
                await trio.sleep(PAUSE_SECONDS)
        nursery.cancel_scope.cancel()


async def _speak(speaker: Speaker, url: str, load: Load, is_over: trio.Event) -> None:
    number = 0
    async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
        speaker.use(http)
        while not is_over.is_set():
            number += 1
            try:
                statuses = await speaker.say(url, f"message {number}")
            except httpx2.TransportError as failure:
                load.failures.append(repr(failure))
            else:
                load.requests += statuses.count(201)
                load.failures += [str(status) for status in statuses if status != 201]
            await trio.sleep(PAUSE_SECONDS)


async def _listen(speaker: Speaker, url: str, load: Load) -> None:
    while True:
        try:
            async with connect(f"{url}/v1/social/live?channels=", token=speaker.token) as socket:
                while True:
                    frame = await socket.receive_json()
                    load.told += frame["type"] == "reconnect"
        except Closed as closed:
            load.closed.append(closed.code)
        except trio.BrokenResourceError:  # in the middle of a handshake
            load.closed.append(1006)
