"""Lost sockets of the load test: opened again after pauses, counted, and given up in the end."""

import socket
from collections.abc import Iterator

import pytest
import trio
from trio.testing import MockClock

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.websocket import WebSocket
from scripts.load.reopening import TRIES, Reopening


class Socket(WebSocket):
    """A socket whose loss is nobody else's matter."""

    def lost(self, why: str) -> None:
        """Nothing is kept of it."""


class Place:
    """One client, whose server is away for so many tries."""

    def __init__(self, away: int) -> None:
        self.loop, self.away, self.tries = EventLoop(), away, 0
        self.far_ends: list[socket.socket] = []
        self.reopening = Reopening(self.open)
        self.socket = self.connected()
        self.reopening.watch(0, self.socket)

    def connected(self) -> Socket:
        near, far = socket.socketpair()
        self.far_ends.append(far)
        return Socket(self.loop, near)

    async def open(self, _place: int) -> Socket:
        await trio.lowlevel.checkpoint()
        self.tries += 1
        if self.tries <= self.away:
            raise OSError("away")
        self.socket = self.connected()
        return self.socket

    def close(self) -> None:
        self.socket.close()
        for one in self.far_ends:
            one.close()


@pytest.fixture
def places() -> Iterator[list[Place]]:
    made: list[Place] = []
    yield made
    for one in made:
        one.close()


async def after(place: Place, seconds: float) -> int:
    """How many are opened again by then."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.reopening.run)
        await trio.sleep(seconds)
        place.reopening.stop()
    return place.reopening.take()


async def test_a_lost_socket_is_opened_again(autojump_clock: MockClock, places: list[Place]) -> None:
    place = Place(away=3)
    places.append(place)
    first = place.socket
    first.close("closed by the server")
    assert await after(place, 30) == 1
    assert (place.tries, place.socket is first, place.socket.closed) == (4, False, None)


async def test_a_socket_that_was_opened_again_is_watched(
    autojump_clock: MockClock, places: list[Place]
) -> None:
    place = Place(away=0)
    places.append(place)
    place.socket.close("closed by the server")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(place.reopening.run)
        await trio.sleep(5)
        place.socket.close("ECONNRESET")
        await trio.sleep(5)
        place.reopening.stop()
    assert (place.reopening.take(), place.reopening.take()) == (2, 0)


async def test_who_stays_away_is_given_up(autojump_clock: MockClock, places: list[Place]) -> None:
    place = Place(away=1_000)
    places.append(place)
    place.socket.close("closed by the server")
    assert await after(place, 3_600) == 0
    assert place.tries == TRIES


async def test_what_was_closed_by_our_wish_stays_closed(
    autojump_clock: MockClock, places: list[Place]
) -> None:
    place = Place(away=0)
    places.append(place)
    place.socket.close()
    assert await after(place, 60) == 0
    assert place.tries == 0
