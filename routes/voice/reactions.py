"""Reactions of memory to nodes that register and go, and the reconciliation of one after an unknown outcome."""

from collections.abc import Sequence
from typing import NamedTuple

from actors.voice.units_nodes import NodeGone, NodeKnown
from persistence.voice import nodes
from routes.changes import Reaction, Reconciliation
from routes.service import Service
from routes.voice.parts import FLEET


class NodeInDoubt(NamedTuple):
    """Reconciliation subject: whether there is a node."""

    node_id: str


def _known(service: Service, event: NodeKnown) -> None:
    service.of(FLEET).put(event.row)


def _gone(service: Service, event: NodeGone) -> None:
    service.of(FLEET).remove(event.node_id)


async def _ask_node(
    service: Service, about: NodeInDoubt, _events: Sequence[object]
) -> tuple[NodeKnown | NodeGone]:
    row = await service.database.read(nodes.read, about.node_id)
    return (NodeGone(about.node_id) if row is None else NodeKnown(row),)


REACTIONS = (Reaction(NodeKnown, _known), Reaction(NodeGone, _gone))

RECONCILIATIONS = (Reconciliation(NodeInDoubt, _ask_node),)
