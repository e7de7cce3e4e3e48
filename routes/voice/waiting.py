"""Heartbeats of nodes that wait for orders: one of each node; when a next one comes, the earlier one is answered."""

import trio

from actors.voice.fleet import Fleet, Node


class WaitingNodes:
    """All waiting heartbeats.

    Args:
        fleet: the nodes, whose orders wake them.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._woken: dict[str, trio.Event] = {}  # {node id: of the heartbeat that waits}
        self._closing = False
        fleet.on_action(self.wake)

    def __len__(self) -> int:
        return len(self._woken)

    def wake(self, node_id: str) -> None:
        """Have a node's heartbeat answered."""
        woken = self._woken.get(node_id)
        if woken is not None:
            woken.set()

    def close(self) -> None:
        """Have all heartbeats answered, and let none wait from now on."""
        self._closing = True
        for woken in self._woken.values():
            woken.set()

    async def wait(self, node: Node, seconds: float) -> None:
        """Wait until the node has something to do. Cancellation leaves nothing behind.

        Args:
            node: the node whose heartbeat waits.
            seconds: how long to wait at most.
        """
        node_id = node.row.node_id
        self.wake(node_id)
        if self._closing or len(node.outbox):
            return
        woken = self._woken[node_id] = trio.Event()
        node.waiting += 1
        try:
            with trio.move_on_after(seconds):
                await woken.wait()
        finally:
            node.waiting -= 1
            if self._woken.get(node_id) is woken:
                del self._woken[node_id]
