"""Passes reports of servers to this node on to the others: four times a second, of each server the newest only.

A node that does not take it keeps what it has; what waits for it is no more than one entry a server, made when it takes
something again. A node that is met is told of everything that was reported here and still counts.
"""

from collections.abc import Callable, Iterator

import msgspec

from actors.publications.statuses import Statuses
from persistence.publications.rows import StatusRow

TOPIC = "statuses"

EVERY_SECONDS = 0.25

TOLD_AT_ONCE = 500
"""Most reports in one message: 0.1 MB, and ten times that with the longest of texts."""

Offer = Callable[[str, bytes], bool]
"""Sends an encoded message to a node; returns False when the node does not take it now."""

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(list[StatusRow]).decode


class Telling:
    """The reports that other nodes have yet to hear of.

    Args:
        statuses: all reports that are known here.
        offer: sends some of them to a node.
        now_ms: returns epoch milliseconds.
    """

    def __init__(self, statuses: Statuses, offer: Offer, now_ms: Callable[[], int]) -> None:
        self._statuses = statuses
        self._offer = offer
        self._now_ms = now_ms
        self._own: dict[str, None] = {}  # servers that have reported here, the last one last
        self._waiting: dict[str, dict[str, None]] = {}  # {node: servers that it is to be told of}
        statuses.follow_reports(self._reported)

    def met(self, node: str) -> None:
        """Have a node told of everything that was reported here and still counts."""
        self._forget_old(self._now_ms())
        self._waiting[node] = dict(self._own)

    def parted(self, node: str) -> None:
        """Forget a node that lives no more."""
        self._waiting.pop(node, None)

    def tell(self) -> None:
        """Send every node the reports that it has yet to hear of, as far as it takes them."""
        for node, servers in self._waiting.items():
            for some in _in_turn(servers):
                found = [self._statuses.report_of(server_id) for server_id in some]
                reports = [one for one in found if one is not None]
                if reports and not self._offer(node, _encode(reports)):
                    break
                for server_id in some:
                    del servers[server_id]
        self._forget_old(self._now_ms())

    def heard(self, _node: str, body: bytes) -> None:
        """Take in what another node tells.

        Args:
            body: the message, as the other node's `offer` has sent it.

        Raises:
            msgspec.DecodeError: the message is of another release.
        """
        now_ms = self._now_ms()
        for report in _decode(body):
            self._statuses.hear(report, now_ms)

    def _reported(self, server_id: str) -> None:
        self._own.pop(server_id, None)
        self._own[server_id] = None
        for servers in self._waiting.values():
            servers[server_id] = None

    def _forget_old(self, now_ms: int) -> None:
        """Forget the servers at the front, which reported here longest ago, as far as their reports no longer count."""
        while self._own and self._statuses.fresh_report(oldest := next(iter(self._own)), now_ms) is None:
            del self._own[oldest]


def _in_turn(servers: dict[str, None]) -> Iterator[list[str]]:
    ids = list(servers)
    for first in range(0, len(ids), TOLD_AT_ONCE):
        yield ids[first : first + TOLD_AT_ONCE]
