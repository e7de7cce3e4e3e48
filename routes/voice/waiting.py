"""Heartbeats of nodes that wait for something to do: one of a node, an earlier one is answered when the next comes."""

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
        """Have all answered, and let nothing wait any longer."""
        self._closing = True
        for woken in self._woken.values():
            woken.set()

    async def wait(self, node: Node, seconds: float) -> None:
        """Wait until the node has something to do. Cancellation leaves nothing behind.

        Args:
            seconds: at most.
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
