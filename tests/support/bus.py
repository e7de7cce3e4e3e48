"""A bus in memory that loses, repeats, delays and reorders messages by seed, so that a test is repeatable to the
letter."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

import trio


@dataclass(frozen=True)
class Weather:
    """What a bus does to messages.

    Args:
        lost, repeated: the probability that a message is lost, or delivered twice.
        delay_seconds: least and most time that a message takes; with different times messages overtake each other.
    """

    lost: float = 0.0
    repeated: float = 0.0
    delay_seconds: tuple[float, float] = (0.001, 0.001)


FAIR = Weather()
FOUL = Weather(lost=0.1, repeated=0.1, delay_seconds=(0.001, 0.3))


class SimulatedBus:
    """Carries messages between the nodes that have joined; `carry` has to run.

    Args:
        rng: draws what happens to each message.
    """

    def __init__(self, rng: Random) -> None:
        self.weather = FAIR
        self.parted: set[frozenset[str]] = set()
        self._rng = rng
        self._takers: dict[str, Callable[[bytes], None]] = {}
        # (when it is due, number, receiver, message); one task delivers all, because trio takes tasks in any order
        self._under_way: list[tuple[float, int, str, bytes]] = []
        self._numbers = count()
        self._more = trio.Event()

    def join(self, node: str, take: Callable[[bytes], None]) -> None:
        """Deliver messages for a node by calling this function with each."""
        self._takers[node] = take

    def end(self, node: str) -> "BusEnd":
        """The bus as a node sees it."""
        return BusEnd(self, node)

    def send(self, sender: str, receiver: str, data: bytes) -> None:
        """Have a message lost, or delivered once or twice."""
        weather = self.weather
        if frozenset((sender, receiver)) in self.parted:
            return
        copies = (self._rng.random() >= weather.lost) + (self._rng.random() < weather.repeated)
        for _ in range(copies):
            at = trio.current_time() + self._rng.uniform(*weather.delay_seconds)
            heapq.heappush(self._under_way, (at, next(self._numbers), receiver, data))
            self._more.set()

    async def carry(self) -> None:
        """Deliver until cancelled."""
        while True:
            now = trio.current_time()
            while self._under_way and self._under_way[0][0] <= now:
                _, _, receiver, data = heapq.heappop(self._under_way)
                if receiver in self._takers:
                    self._takers[receiver](data)
            self._more = trio.Event()
            with trio.move_on_at(self._under_way[0][0] if self._under_way else float("inf")):
                await self._more.wait()


class BusEnd:
    """The bus as one node sees it."""

    def __init__(self, bus: SimulatedBus, node: str) -> None:
        self.is_open = True
        self._bus = bus
        self._node = node

    def takes(self, _node: str) -> bool:
        return self.is_open

    def publish(self, node: str, data: bytes) -> None:
        self._bus.send(self._node, node, data)
