"""A user's live socket that comes and goes: its channels are resumed over the next connection where they were left."""

import random
import time
from dataclasses import dataclass, field

import msgspec
import trio

from scripts.load.clients.event_loop import EventLoop
from scripts.load.clients.stream_client import StreamClient
from scripts.load.clients.websocket import UpgradeRefused
from scripts.soaking.books import Books
from scripts.soaking.weather import Weather

TARGET = "/v1/social/live?channels="
LIVES_SECONDS = (20.0, 180.0)
AWAY_SECONDS = (0.0, 15.0)
RETRY_SECONDS = 0.5
SAYS_EVERY_SECONDS = 10.0
DURABLE = ("conversation:", "notifications")
"""How the names of channels begin whose offsets have no gap, over connections and restarts."""


class _Error(msgspec.Struct):
    code: str = "?"


class _Frame(msgspec.Struct):
    """The fields of a server frame that matter here."""

    type: str
    channel: str = ""
    epoch: str | None = None
    offset: int | None = None
    recovered: bool = False
    ok: bool = True
    code: str = ""
    error: _Error | None = None


class _Place(msgspec.Struct):
    epoch: str
    offset: int


@dataclass(slots=True)
class Track:
    """The place that a watcher has reached in a channel.

    Args:
        since: the epoch and offset of the newest frame; None before the first.
    """

    since: _Place | None = None


@dataclass(slots=True)
class Place:
    """Where the service is.

    Args:
        loop: serves the sockets.
        address: the service's (IP address, port).
        host: the Host field.
    """

    loop: EventLoop
    address: tuple[str, int]
    host: str


@dataclass(eq=False)
class Watcher:
    """One user with at most one socket.

    Args:
        place: where the service is.
        number, token: the user's number and access token.
        channels: the channels that are watched.
        books: count all that happens.
        weather: says when failures are to be expected.
        rng: decides how long each socket lives.
    """

    place: Place
    number: int
    token: str
    channels: tuple[str, ...]
    books: Books
    weather: Weather
    rng: random.Random
    tracks: dict[str, Track] = field(default_factory=dict)
    _socket: StreamClient | None = None
    _lost: trio.Event = field(default_factory=trio.Event)
    _says: int = 0
    _mark: int = 0

    async def run(self) -> None:
        """Open a socket again and again until cancelled; it is closed then."""
        try:
            while True:
                if await self._open():
                    with trio.move_on_after(self.rng.uniform(*LIVES_SECONDS)):
                        await self._live()
                    self.drop()
                    await trio.sleep(self.rng.uniform(*AWAY_SECONDS))
                else:
                    await trio.sleep(RETRY_SECONDS)
        finally:
            self.drop()

    def drop(self) -> None:
        """Close the socket without a close frame, where there is one."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def heard(self, user: int, payload: bytes) -> None:
        """Take a frame that has arrived."""
        del user
        frame = _decode(payload)
        if frame.type == "event":
            self._event(frame)
        elif frame.type == "snapshot":
            self.books.sockets["snapshots"] += 1
            self._moved(frame)
        elif frame.type == "reply":
            self._reply(frame)
        elif frame.type in ("unsubscribed", "reconnect"):
            self._fault(f"socket {frame.type} {frame.code}")

    def lost(self, why: str) -> None:
        """Note that the socket has ended without our closing it."""
        self._socket = None
        self._lost.set()
        self._fault(f"socket {why}")

    async def _open(self) -> bool:
        self._mark = self.weather.mark()
        began_ns = time.monotonic_ns()
        try:
            self._socket = await StreamClient.open(
                self.place.loop,
                self.place.address,
                self.place.host,
                TARGET,
                self.token,
                user=self.number,
                ledger=self,
            )
        except (OSError, UpgradeRefused) as error:
            what = f"refused {error.status}" if isinstance(error, UpgradeRefused) else type(error).__name__
            self._fault(f"socket {what}")
            return False
        if not self.weather.was_rough(self._mark):
            self.books.add("sockets/open", time.monotonic_ns() - began_ns)
        self.books.sockets["opened"] += 1
        self._lost = trio.Event()
        for number, channel in enumerate(self.channels):
            track = self.tracks.setdefault(channel, Track())
            command = {"id": number, "op": "subscribe", "channel": channel, "params": {"mode": "delta"}}
            self._say(command if track.since is None else command | {"since": track.since})
        return True

    async def _live(self) -> None:
        """Send something now and then until the socket is lost."""
        while not self._lost.is_set():
            with trio.move_on_after(SAYS_EVERY_SECONDS):
                await self._lost.wait()
            self._says += 1
            rooms = [channel for channel in self.channels if channel.startswith("conversation:")]
            if rooms and self._says % 2:
                self._say({"op": "typing", "channel": self.rng.choice(rooms)})
            else:
                self._say({"id": 1000, "op": "ping"})

    def _say(self, command: dict[str, object]) -> None:
        if self._socket is not None:
            self._socket.say(_encode(command))

    def _reply(self, frame: _Frame) -> None:
        if not frame.ok:
            self._fault(f"socket reply {frame.error.code if frame.error else '?'}")
        elif frame.channel and frame.channel in self.tracks:
            track = self.tracks[frame.channel]
            if track.since is not None:
                self.books.sockets["resumed" if frame.recovered else "shown anew"] += 1

    def _event(self, frame: _Frame) -> None:
        self.books.sockets["events"] += 1
        track = self.tracks.get(frame.channel)
        if track is None or frame.offset is None:
            return
        since = track.since
        if since is not None and frame.epoch == since.epoch and frame.channel.startswith(DURABLE):
            if frame.offset <= since.offset:
                self.books.sockets["repeated"] += 1
            elif frame.offset > since.offset + 1:
                self.books.sockets["gaps"] += 1
        self._moved(frame)

    def _moved(self, frame: _Frame) -> None:
        track = self.tracks.get(frame.channel)
        if track is not None and frame.epoch is not None and frame.offset is not None:
            track.since = _Place(frame.epoch, frame.offset)

    def _fault(self, what: str) -> None:
        where = self.books.weathered if self.weather.was_rough(self._mark) else self.books.errors
        where[what] += 1


_decode = msgspec.json.Decoder(_Frame).decode
_encode = msgspec.json.Encoder().encode
