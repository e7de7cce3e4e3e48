"""Renews all nodes one after the other, so that there is no moment in which the service does not answer."""

from collections.abc import Sequence

import structlog
import trio

from routes.keeper.node import KeptNode

READY_SECONDS = 120.0
"""How long a node may take to be ready again, migrations included, before the other nodes are left as they are."""

log = structlog.get_logger()


async def roll(nodes: Sequence[KeptNode]) -> bool:
    """Renew each node while all others are ready; returns whether all were renewed, and are ready again.

    If settings or code cannot even be loaded, no node is renewed. Nodes that are not ready come first, and do not wait
    for the others, since they serve no clients. If a node is not ready in time, those after it stay as they are: so a
    new version that loads but does not start costs one node. Cancellation leaves the node that is being renewed ending.

    Args:
        nodes: all nodes of the keeper, which `KeptNode.keep` keeps running.
    """
    if not await nodes[0].rehearse():
        log.error("roll_refused", why="a node would not start again, as said above; all stay as they are")
        return False
    log.info("roll_begins", nodes=len(nodes))
    for node in sorted(nodes, key=lambda node: node.is_ready):
        others = [other for other in nodes if other is not node]
        late = await _wait_ready(others) if node.is_ready else []
        if not late:
            await node.renew()
            late = await _wait_ready([node])
        if late:
            log.error("roll_stopped", before=node.number, not_ready=late)
            return False
    log.info("roll_done", nodes=len(nodes))
    return True


async def _wait_ready(nodes: Sequence[KeptNode]) -> list[int]:
    """Wait until the nodes are ready; returns the numbers of those that are not ready in time."""
    with trio.move_on_after(READY_SECONDS):
        for node in nodes:
            await node.wait_ready()
    return [node.number for node in nodes if not node.is_ready]
