"""All voice nodes in memory: which are online, and what each is told to do."""

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager
from typing import Literal, TypeAlias

from actors.meanwhile import Meanwhile
from actors.time import DAY_MS
from actors.voice.outbox import ActionKind, Outbox
from persistence.voice.nodes import NodeRow

HEARTBEAT_INTERVAL_MS = 10_000

SILENCE_MS = 3 * HEARTBEAT_INTERVAL_MS
"""How long a node may be silent before it is offline: three heartbeats."""

STARTING_MS = 2 * 60 * 1000
"""At the start, nodes whose last heartbeat in rows is younger than this count as heard: rows are written once a
minute."""

KEPT_MS = 7 * DAY_MS
"""How long a node that is offline is remembered, as a gateway is."""

RETURN_MS = 60 * 60 * 1000
"""For how long after this node took charge of voice no voice node is forgotten: nobody heard them while the service was
away."""

REMEMBERED = 1_000
"""Of how many nodes that are gone the region is known: of those that went last."""

NodeStatus: TypeAlias = Literal["online", "draining", "offline"]

Sign: TypeAlias = Literal["heard", "drains", "silent"]

MOVES: dict[tuple[NodeStatus, Sign], NodeStatus] = {
    ("online", "heard"): "online",
    ("online", "drains"): "draining",
    ("online", "silent"): "offline",
    ("draining", "heard"): "online",
    ("draining", "drains"): "draining",
    ("draining", "silent"): "offline",
    ("offline", "heard"): "online",
    ("offline", "drains"): "draining",
    ("offline", "silent"): "offline",
}
"""{(status, what was heard of the node): status afterwards}."""


class Node:
    """A voice node.

    Attributes:
        row: the row with which it registered.
        heard_ms: when its last heartbeat came or was answered, epoch milliseconds.
        waiting: how many of its heartbeats wait for an answer; while there are any, it counts as heard.
        status_since_ms: since when it has its status, epoch milliseconds.
        participants, channels, load: what it reports of itself; shown to people, and used for no decision.
        outbox: the orders for it.
        told: whether it has acknowledged the first orders of this process.
        seen: {session id: since when it is missing in what the node reports, None while it is there}.
    """

    __slots__ = (
        "channels", "heard_ms", "load", "outbox", "participants", "row", "seen", "status", "status_since_ms",
        "told", "waiting",
    )  # fmt: skip

    def __init__(self, row: NodeRow, status: NodeStatus, heard_ms: int, outbox: Outbox) -> None:
        self.row = row
        self.status = status
        self.heard_ms = heard_ms
        self.status_since_ms = heard_ms
        self.waiting = 0
        self.participants = 0
        self.channels = 0
        self.load = 0.0
        self.outbox = outbox
        self.told = False
        self.seen: dict[str, int | None] = {}

    def take(self, sign: Sign, now_ms: int) -> bool:
        """Change the status by what was heard or not heard of the node; returns whether it is another."""
        return self.turn(MOVES[self.status, sign], now_ms)

    def turn(self, status: NodeStatus, now_ms: int) -> bool:
        """Set the status; returns whether it is another."""
        if status == self.status:
            return False
        self.status, self.status_since_ms = status, now_ms
        return True


class Fleet:
    """All voice nodes.

    Attributes:
        since_ms: since when this node of the service has charge of them, epoch milliseconds: its start, or when another
            one ceased to.

    Args:
        rows: the rows of the voice nodes at the start.
        now_ms: returns epoch milliseconds.
        new_epoch: makes a fresh short name for an outbox.
    """

    def __init__(
        self, rows: Iterable[NodeRow], now_ms: Callable[[], int], new_epoch: Callable[[], str]
    ) -> None:
        self._now_ms = now_ms
        self._new_epoch = new_epoch
        self._nodes: dict[str, Node] = {}
        self._listeners: list[Callable[[str], None]] = []
        self._mourners: list[Callable[[str], None]] = []
        self._gone: Meanwhile[str] = Meanwhile()
        self._former: dict[str, str] = {}  # {id of a node that is gone: its region}
        now = self.since_ms = now_ms()
        for row in rows:
            lately = now - row.heard_at_ms < STARTING_MS
            status: NodeStatus = "offline" if not lately else "draining" if row.draining else "online"
            self._nodes[row.node_id] = Node(
                row, status, now if lately else row.heard_at_ms, Outbox(new_epoch())
            )

    def __iter__(self) -> Iterator[Node]:
        return iter(tuple(self._nodes.values()))

    def get(self, node_id: str | None) -> Node | None:
        """The node with this id; None when there is none."""
        return None if node_id is None else self._nodes.get(node_id)

    def region_of(self, node_id: str | None) -> str | None:
        """The region of a node, or of one that went lately; None when it is not known."""
        node = self.get(node_id)
        if node is not None:
            return node.row.region
        return None if node_id is None else self._former.get(node_id)

    def on_action(self, listener: Callable[[str], None]) -> None:
        """Call `listener(node_id)`, synchronously, when a node is given an order, or is no more."""
        self._listeners.append(listener)

    def on_gone(self, listener: Callable[[str], None]) -> None:
        """Call `listener(node_id)`, synchronously, when a node is no more."""
        self._mourners.append(listener)

    def begin(self) -> None:
        """Take charge of the voice nodes, which another node of the service had before: those that are not offline
        count as heard now, and all are to be given again the orders that still hold."""
        now_ms = self.since_ms = self._now_ms()
        for node in self:
            node.outbox, node.told, node.seen = Outbox(self._new_epoch()), False, {}
            if node.status != "offline":
                node.heard_ms = now_ms
            self._tell(node.row.node_id)

    def put(self, row: NodeRow) -> None:
        """Take in a node that has registered; one that is known stays as it is."""
        if row.node_id not in self._nodes:
            self._nodes[row.node_id] = Node(row, "online", self._now_ms(), Outbox(self._new_epoch()))

    def reading(self) -> AbstractContextManager[AbstractSet[str]]:
        """Collect the nodes, and the game servers, whose removal is announced while a row is read."""
        return self._gone.reading()

    def remove(self, node_id: str) -> None:
        """Remove a node that is no more."""
        self._gone.told(node_id)
        node = self._nodes.pop(node_id, None)
        if node is not None:
            self._former[node_id] = node.row.region
            if len(self._former) > REMEMBERED:
                del self._former[next(iter(self._former))]
            self._tell(node_id)
            for listener in self._mourners:
                listener(node_id)

    def remove_of_server(self, server_id: str) -> None:
        """Remove the nodes of a game server that is no more."""
        self._gone.told(server_id)
        for node in self:
            if node.row.server_id == server_id:
                self.remove(node.row.node_id)

    def silence(self) -> list[Node]:
        """Set the status of nodes that have fallen silent; returns these nodes."""
        now_ms = self._now_ms()
        silent = [
            node
            for node in self
            if node.status != "offline" and not node.waiting and now_ms - node.heard_ms >= SILENCE_MS
        ]
        for node in silent:
            node.take("silent", now_ms)
        return silent

    def gone(self) -> list[str]:
        """Ids of the nodes that have been offline for so long that they are forgotten, as far as is known here: whoever
        minded them before may have heard them since."""
        now_ms = self._now_ms()
        if now_ms - self.since_ms < RETURN_MS:
            return []
        return [
            node.row.node_id
            for node in self
            if node.status == "offline" and now_ms - max(node.heard_ms, node.status_since_ms) >= KEPT_MS
        ]

    def order(
        self,
        node_id: str | None,
        kind: ActionKind,
        channel_id: str,
        user_id: str | None,
        *,
        not_before_s: int | None = None,
    ) -> None:
        """Give a node an order; nothing where there is no such node.

        Args:
            kind: what it has to do.
            channel_id: the channel that this concerns.
            user_id: the user whom it concerns; None for `close`.
            not_before_s: epoch seconds from which the user's tokens are valid again; None: from the next second on. A
                `remove` names the moment that the channel knows (`Removal`), or it could void those of a newer session.
        """
        node = self.get(node_id)
        if node is not None:
            now_ms = self._now_ms()
            since_s = void_before_s(now_ms) if not_before_s is None else not_before_s
            node.outbox.put(kind, channel_id, user_id, not_before_s=since_s, now_ms=now_ms)
            self._tell(node.row.node_id)

    def expire(self) -> None:
        """Forget orders that are too old."""
        now_ms = self._now_ms()
        for node in self:
            node.outbox.expire(now_ms)

    def _tell(self, node_id: str) -> None:
        for listener in self._listeners:
            listener(node_id)


def void_before_s(now_ms: int) -> int:
    """The epoch second from which tokens are valid again that were not at this moment."""
    return now_ms // 1000 + 1
