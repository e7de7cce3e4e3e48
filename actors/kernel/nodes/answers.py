"""Answers to other nodes: said at once where their link has room, and otherwise when it has.

What is asked is refused where too much waits in a link, and turns are left out. An answer can be neither, since what it
is about has been done; but many large ones at once fill any link. So each goes while no more waits before it than this:

    an answer of            waits while the link has more than
    up to `SMALL_BYTES`     `SMALL_BEHIND_BYTES`
    more                    `LARGE_BEHIND_BYTES`

Those that wait go in order, the small ones apart from the large. They go as soon as acknowledgements come in, before
anything else is said, so that a small answer stays before the turns that follow it: those are told only while far less
waits (`peers.SHOWN_BYTES`). Whoever gives up an answer says in its place that the outcome is unknown.
"""

from actors.kernel.nodes.link import BATCH_BYTES, LINK_BYTES
from actors.kernel.nodes.links import Links
from actors.kernel.one_shot import OneShot

SMALL_BYTES = 64 * 1024
"""The largest answer that goes before large ones."""

SMALL_BEHIND_BYTES = LINK_BYTES // 4 * 3
"""The rest of the link's room is for entries that must arrive."""

LARGE_BEHIND_BYTES = BATCH_BYTES
"""A batch is under way, and the next answer waits behind it: more would make nothing faster, and turns go untold."""

WAITING_BYTES = 2 * LINK_BYTES
"""Most bytes of answers that wait for one node, beside those in its link."""

WAITING_MAX = 1_000
"""Most answers that wait for one node."""


class _Waiting:
    """An answer that waits; its waiter is woken with whether it was said."""

    __slots__ = ("data", "said")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.said: OneShot[bool] = OneShot()


class _Line:
    """The answers that wait for one node, in order."""

    __slots__ = ("bytes", "large", "small")

    def __init__(self) -> None:
        self.small: dict[_Waiting, None] = {}
        self.large: dict[_Waiting, None] = {}
        self.bytes = 0

    @property
    def count(self) -> int:
        return len(self.small) + len(self.large)

    def of(self, data: bytes) -> dict[_Waiting, None]:
        """The queue in which an answer of this size waits."""
        return self.small if len(data) <= SMALL_BYTES else self.large


class Answers:
    """All answers to other nodes.

    Args:
        links: the links over which answers go.
    """

    def __init__(self, links: Links) -> None:
        self._links = links
        self._lines: dict[str, _Line] = {}
        links.on_room(self._go_on)

    def say(self, node: str, data: bytes) -> bool:
        """Say an answer; returns False when it has to wait (`wait_to_say`), and nothing was said.

        Args:
            node: the name of the node, which is linked.
            data: the encoded entry.
        """
        line = self._lines.get(node)
        if line is not None and line.of(data):
            return False
        if self._links.waiting_bytes_of(node) > _behind(data):
            return False
        self._links.send(node, data)
        return True

    async def wait_to_say(self, node: str, data: bytes) -> bool:
        """Say an answer when the link has room for it. Cancellation gives it up.

        Args:
            node: the name of the node, which is linked.
            data: the encoded entry.

        Returns:
            False when it was not said, because too much waits already, or the node lives no more.
        """
        if self.say(node, data):
            return True
        line = self._lines.get(node) or _Line()
        if line.count >= WAITING_MAX or line.bytes + len(data) > WAITING_BYTES:
            return False
        self._lines[node] = line
        waiting = _Waiting(data)
        line.of(data)[waiting] = None
        line.bytes += len(data)
        try:
            return await waiting.said.wait()
        finally:
            self._leave(node, line, waiting)

    def are_waiting_for(self, node: str) -> bool:
        """Whether answers to a node are not said yet."""
        return node in self._lines

    def part(self, node: str) -> None:
        """Give up what waits for a node that lives no more."""
        line = self._lines.pop(node, None)
        if line is not None:
            for waiting in (*line.small, *line.large):
                waiting.said.wake(False)

    def _go_on(self, node: str) -> None:
        """Say what waits for a node, as far as its link has room."""
        line = self._lines.get(node)
        if line is None:
            return
        for kind in (line.small, line.large):
            while kind:
                waiting = next(iter(kind))
                if self._links.waiting_bytes_of(node) > _behind(waiting.data):
                    break
                self._links.send(node, waiting.data)
                self._leave(node, line, waiting)
                waiting.said.wake(True)

    def _leave(self, node: str, line: _Line, waiting: _Waiting) -> None:
        kind = line.of(waiting.data)
        if waiting not in kind:
            return
        del kind[waiting]
        line.bytes -= len(waiting.data)
        if not line.count and self._lines.get(node) is line:
            del self._lines[node]


def _behind(data: bytes) -> int:
    """The most bytes that may wait in the link before an answer of this size."""
    return SMALL_BEHIND_BYTES if len(data) <= SMALL_BYTES else LARGE_BEHIND_BYTES
