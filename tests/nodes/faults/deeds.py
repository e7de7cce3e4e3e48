"""What is done to a node, and how it comes back: each ends with the node started anew, as whoever runs it would do."""

import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random

import trio

from tests.nodes.faults.fleet import Node
from tests.support.relay import Cut
from tests.support.waiting import patience

FROZEN_SECONDS = 30.0


@dataclass(frozen=True)
class Deed:
    """A fault.

    Args:
        begin: does it.
        end: undoes it; called once the others serve everything, and returns when the node has ended.
    """

    begin: Callable[[Node, Random], None]
    end: Callable[[Node, float], Awaitable[None]]


def _signalled(node: Node, which: signal.Signals) -> None:
    assert node.server.process is not None
    node.server.process.send_signal(which)


async def _ended(node: Node) -> None:
    """Wait until it has ended by itself."""
    assert node.server.process is not None
    with patience():
        status = await node.server.process.wait()
    assert status == 1, f"{node.name} ended with {status}:\n{node.server.log[-1000:]}"


def _kill(node: Node, _rng: Random) -> None:
    _signalled(node, signal.SIGKILL)


async def _after_kill(node: Node, _began_at: float) -> None:
    assert node.server.process is not None
    with patience():
        await node.server.process.wait()


def _freeze(node: Node, _rng: Random) -> None:
    _signalled(node, signal.SIGSTOP)


async def _thaw(node: Node, began_at: float) -> None:
    await trio.sleep_until(began_at + FROZEN_SECONDS)
    _signalled(node, signal.SIGCONT)
    await _ended(node)


def _cut_bus(node: Node, rng: Random) -> None:
    node.bus.cut(rng.choice(list(Cut)))


async def _join_bus(node: Node, _began_at: float) -> None:
    await _ended(node)  # before it reaches anybody again
    node.bus.heal()


def _cut_database(node: Node, rng: Random) -> None:
    node.database.cut(rng.choice(list(Cut)))


async def _join_database(node: Node, _began_at: float) -> None:
    node.database.heal()
    await _ended(node)


def _cut_both(node: Node, rng: Random) -> None:
    _cut_bus(node, rng)
    _cut_database(node, rng)


async def _join_both(node: Node, _began_at: float) -> None:
    node.bus.heal()
    node.database.heal()
    await _ended(node)


DEEDS = {
    "cut from both": Deed(_cut_both, _join_both),
    "kill -9": Deed(_kill, _after_kill),
    "SIGSTOP": Deed(_freeze, _thaw),
    "cut from NATS": Deed(_cut_bus, _join_bus),
    "cut from PostgreSQL": Deed(_cut_database, _join_database),
}
"""In the order in which rounds take them: what no other test does comes first."""
