"""The parts of voice: the nodes in memory, their secrets, and their heartbeats that wait."""

from actors.ids import RandomBytes
from actors.voice.fleet import Fleet
from persistence.voice import nodes
from routes.part import Opening, Part
from routes.voice.secrets import NodeSecrets
from routes.voice.waiting import WaitingNodes

EPOCH_BYTES = 5
"""Random bytes in the epoch of a history; two of the same thing only have to differ."""


def new_epoch(random_bytes: RandomBytes) -> str:
    """A fresh name of a history."""
    return random_bytes(EPOCH_BYTES).hex()


async def _open_fleet(opening: Opening) -> Fleet:
    rows = await opening.database.read(nodes.read_all)
    return Fleet(rows, opening.clock.now_ms, lambda: new_epoch(opening.random_bytes))


async def _open_secrets(opening: Opening) -> NodeSecrets:
    return NodeSecrets(opening.keys, opening.random_bytes)


async def _open_waiting(opening: Opening) -> WaitingNodes:
    return WaitingNodes(await opening.of(FLEET))


FLEET = Part(name="voice nodes", open=_open_fleet)
"""All voice nodes."""

NODE_SECRETS = Part(name="secrets of voice nodes", open=_open_secrets)
"""What tokens are signed with."""

WAITING_NODES = Part(name="waiting heartbeats of voice nodes", open=_open_waiting)
"""Heartbeats that wait for something to do."""
