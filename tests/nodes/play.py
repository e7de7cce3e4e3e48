"""Nodes that talk to each other by links over a simulated bus, and remember what they have heard."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random

import trio

from actors.kernel.nodes.link import Heard, Life
from actors.kernel.nodes.links import Bus, Links
from actors.kernel.nodes.peers import Peers
from tests.support.bus import SimulatedBus

KEY = bytes(range(32))


def peers_of(life: Life, bus: Bus, lost: Callable[[str], None] = lambda _node: None) -> Peers:
    """The peers of one life of a node. What comes from the bus is to be given to their links.

    Args:
        life: the life of the node.
        bus: the node's end of the bus.
        lost: called with another node's name when something that it has told will never come.
    """
    soon = trio.lowlevel.current_trio_token().run_sync_soon
    return Peers(life, KEY, bus, lost, now=trio.current_time, soon=soon)


class Node:
    """A node with links, and a memory of what it heard: {sender: everything, in order}."""

    def __init__(self, bus: SimulatedBus, life: Life, *, key: bytes = KEY) -> None:
        self.life = life
        self.end = bus.end(life.node)
        self.heard: dict[str, list[Heard]] = {}
        token = trio.lowlevel.current_trio_token()
        self.links = Links(
            life,
            key,
            self.end,
            lambda node, thing: self.heard.setdefault(node, []).append(thing),
            now=trio.current_time,
            soon=token.run_sync_soon,
        )
        bus.join(life.node, self.links.take)

    def entries(self, sender: str) -> list[bytes]:
        """What it has heard from a node, without notes of losses."""
        return [thing for thing in self.heard.get(sender, []) if isinstance(thing, bytes)]


class Stage:
    """Some nodes on one bus."""

    def __init__(self, bus: SimulatedBus, nursery: trio.Nursery) -> None:
        self.bus = bus
        self.nodes: dict[str, Node] = {}
        self._nursery = nursery

    def begin(self, name: str, life: int = 1, *, key: bytes = KEY) -> Node:
        """A life of a node begins, and all others hear of it."""
        node = self.nodes[name] = Node(self.bus, Life(name, life), key=key)
        for other in self.nodes.values():
            if other is not node:
                other.links.meet(node.life)
                node.links.meet(other.life)
        self._nursery.start_soon(node.links.keep)
        return node


@asynccontextmanager
async def open_stage(*names: str, seed: int = 0) -> AsyncIterator[Stage]:
    """A stage with these nodes, each in its first life; under a clock that jumps."""
    async with trio.open_nursery() as nursery:
        stage = Stage(SimulatedBus(Random(seed)), nursery)
        nursery.start_soon(stage.bus.carry)
        for name in names:
            stage.begin(name)
        yield stage
        nursery.cancel_scope.cancel()
