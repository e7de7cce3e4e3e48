"""A thousand viewers of who plays what: one frame a second at most, one encoding for all, sums right to the unit."""

import operator
from collections import Counter
from functools import partial
from random import Random
from typing import Any, Literal

import pytest
import trio

from actors.games.live import INTERVAL_MS, NAME
from actors.kernel.subscription import WatchRequest
from persistence.publications.rows import StatusRow
from routes.games.jobs import count_changed
from routes.games.parts import GAMES_LIVE
from routes.publications.parts import STATUSES
from tests.connect.play import GameServer, claimed
from tests.publications.play import publish
from tests.support.sinks import JsonEnvelope, Socket
from tests.support.waiting import wait_until
from tests.support.world import World

VIEWERS = 1_000
SECONDS = 5
REPORTS = 400
"""In each second, from all servers together."""

CHECKPOINTS = 50

GAMES = ("bedwars", "skywars", "parkour")
SEED = 20_261_124


async def servers_of_games(world: World) -> dict[str, str]:
    """{server: the game that its publication names}, three of each."""
    ann = await world.player("Ann")
    games: dict[str, str] = {}
    for number in range(3 * len(GAMES)):
        server: GameServer = await claimed(world, ann)
        games[server.id] = GAMES[number % len(GAMES)]
        await publish(ann, server, category=games[server.id], address=f"s{number}.example.org")
    await count_changed(world.service)
    return games


async def viewers(world: World, envelope: JsonEnvelope) -> list[Socket]:
    """Half of them are sent snapshots, half of them events."""
    modes: tuple[Literal["snapshot", "delta"], ...] = ("snapshot", "delta")
    view, sockets = world.service.of(GAMES_LIVE).view, [Socket() for _ in range(VIEWERS)]
    for number, socket in enumerate(sockets):
        request = WatchRequest(socket, None, NAME, envelope, modes[number % 2], socket.on_opened)
        await world.service.system.watch(view, NAME, request)
    return sockets


def sums(frame: Any) -> dict[str, tuple[int, int]]:
    """{game: players and servers}, of those that are played."""
    return {one["gameId"]: (one["players"], one["servers"]) for one in frame["items"] if one["servers"]}


class Pushing:
    """Servers that say at random how many play there.

    Args:
        games: {server: its game}.
    """

    def __init__(self, world: World, games: dict[str, str]) -> None:
        self._world = world
        self._games = games
        self._rng = Random(SEED)
        self._reported: dict[str, StatusRow] = {}

    def push(self) -> None:
        """Many reports at this moment."""
        now_ms, statuses = self._world.clock.now_ms(), self._world.service.of(STATUSES)
        for _ in range(REPORTS):
            id = self._rng.choice(tuple(self._games))
            online, players = self._rng.random() < 0.9, self._rng.randrange(500)
            self._reported[id] = StatusRow(id, None, online, "", players, 500, now_ms)
            assert statuses.report(self._reported[id], now_ms)

    def sums(self) -> dict[str, tuple[int, int]]:
        """What is to be shown."""
        servers: Counter[str] = Counter()
        players: Counter[str] = Counter()
        for id, row in self._reported.items():
            if row.online:
                servers[self._games[id]] += 1
                players[self._games[id]] += row.players
        return {game: (players[game], servers[game]) for game in servers}


@pytest.mark.slow
async def test_a_thousand_viewers_are_told_once_a_second(world: World) -> None:
    envelope = JsonEnvelope()
    pushing = Pushing(world, await servers_of_games(world))
    async with (await world.player("Ben")).live("/v1/games/live") as real:
        world.clock.stop()
        assert sums(await real.receive_json()) == {}
        sockets = await viewers(world, envelope)
        for second in range(SECONDS):
            pushing.push()
            if second:
                for _ in range(CHECKPOINTS):
                    await trio.lowlevel.checkpoint()
                assert {len(socket.sends) for socket in sockets} == {1 + second}, "the second is not over"
                world.advance(INTERVAL_MS)
            assert sums(await real.receive_json()) == pushing.sums()
            await wait_until(partial(_all_have, sockets, 2 + second))
            assert {len(socket.sends) for socket in sockets} == {2 + second}
            for socket in sockets[:2]:
                assert sums(socket.frames[-1]["data"]) == pushing.sums()
    # Each viewer's first frame, and each further one once for either sort of viewers.
    assert envelope.encoded <= VIEWERS + 2 * SECONDS
    for number, socket in enumerate(sockets):
        assert all(map(operator.is_, socket.sends[1:], sockets[number % 2].sends[1:]))


async def _all_have(sockets: list[Socket], frames: int) -> bool:
    return all(len(socket.sends) >= frames for socket in sockets)
