"""Which game servers are to be announced as online or offline, in memory.

A server is told of once it has been in another state than the one last told for `SETTLE_MS` without a break, so one
that comes and goes every few seconds is told of as little as one that stays. What was told is in rows; what is on its
way to be told is memory alone, and begins anew at a start.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from actors.discord.posting import Turned
from persistence.discord.rows import WatchedRow

SETTLE_MS = 60_000
"""How long a state has to last before it is told of."""


@dataclass(slots=True, eq=False)
class _Server:
    """One server.

    Args:
        told, online: whether it was last told of as online, and whether it is.
        due_at_ms: when the difference is to be told of, epoch milliseconds; None where there is none.
        queued_at_ms: the time of the one entry in the heap that counts for it; None without one.
    """

    network_id: str
    told: bool
    online: bool
    due_at_ms: int | None = None
    queued_at_ms: int | None = None


class Uptime:
    """The servers of networks that want such posts. Servers that are offline, and were told of as offline, take no
    memory."""

    def __init__(self) -> None:
        self._networks: dict[str, set[str]] = {}
        self._servers: dict[str, _Server] = {}
        self._due: list[tuple[int, str]] = []  # heap of (`queued_at_ms`, server)

    @property
    def asked(self) -> bool:
        """Whether any network wants posts about its servers being online or offline."""
        return bool(self._networks)

    def watches(self, network_id: str) -> bool:
        """Whether a network wants posts about its servers being online or offline."""
        return network_id in self._networks

    def networks(self) -> tuple[str, ...]:
        """The ids of the networks that want posts about their servers being online or offline."""
        return tuple(self._networks)

    def servers_in(self, network_id: str) -> frozenset[str]:
        """The ids of a network's servers that are remembered."""
        return frozenset(self._networks.get(network_id, ()))

    def watch(self, watched: WatchedRow) -> None:
        """Follow the servers of a network from now on; those said to be online are taken as online."""
        self._networks.setdefault(watched.network_id, set())
        for server_id in watched.online:
            if server_id not in self._servers:
                self._add(server_id, watched.network_id, told=True)

    def unwatch(self, network_id: str) -> None:
        """Forget a network and its servers."""
        for server_id in self._networks.pop(network_id, ()):
            del self._servers[server_id]

    def saw(self, server_id: str, network_id: str | None, now_ms: int, *, online: bool) -> None:
        """Take in what a server says of itself.

        Args:
            network_id: the network that the server is in, or None.
            now_ms: epoch milliseconds.
            online: whether players can join.
        """
        known = self._servers.get(server_id)
        told = False
        if known is not None and network_id != known.network_id:
            told = known.told
            self._forget(server_id)
            known = None
        if known is None:
            if network_id is None or network_id not in self._networks or not (online or told):
                return
            known = self._add(server_id, network_id, told=told)
        known.online = online
        self._schedule(server_id, known, now_ms + SETTLE_MS)

    def missed(self, server_id: str, now_ms: int, patience_ms: int = 0) -> None:
        """Take in that a server has said nothing for too long, or is no more.

        Args:
            now_ms: epoch milliseconds.
            patience_ms: how much longer than `SETTLE_MS` it may stay away before it is told of.
        """
        known = self._servers.get(server_id)
        if known is not None:
            known.online = False
            self._schedule(server_id, known, now_ms + SETTLE_MS + patience_ms)

    def take_due(self, now_ms: int, limit: int) -> list[Turned]:
        """The servers that are to be told of now, at most `limit`; they come again only after `told` or `untold`."""
        turned: list[Turned] = []
        while self._due and self._due[0][0] <= now_ms and len(turned) < limit:
            queued_at_ms, server_id = heappop(self._due)
            known = self._servers.get(server_id)
            if known is None or known.queued_at_ms != queued_at_ms:
                continue
            known.queued_at_ms = None
            if known.due_at_ms is not None and known.due_at_ms > now_ms:
                self._queue(server_id, known, known.due_at_ms)
            elif known.due_at_ms is not None:
                turned.append(Turned(server_id, known.online))
        return turned

    def told(self, turned: Iterable[Turned], now_ms: int) -> None:
        """Note that these servers were told of; one that has changed meanwhile is told of again once that has
        lasted."""
        for one in turned:
            known = self._servers.get(one.server_id)
            if known is None:
                continue
            known.told, known.due_at_ms = one.online, None
            self._schedule(one.server_id, known, now_ms + SETTLE_MS)
            if not known.told and not known.online:
                self._forget(one.server_id)

    def untold(self, turned: Iterable[Turned], now_ms: int) -> None:
        """Note that these servers could not be told of: those whose state has not changed meanwhile are due again at
        once."""
        for one in turned:
            known = self._servers.get(one.server_id)
            if known is not None and known.due_at_ms is not None:
                known.due_at_ms = None
                self._schedule(one.server_id, known, now_ms)

    def __len__(self) -> int:
        """How many servers are remembered."""
        return len(self._servers)

    def _schedule(self, server_id: str, known: _Server, due_at_ms: int) -> None:
        if known.online == known.told:
            known.due_at_ms = None
        elif known.due_at_ms is None:
            known.due_at_ms = due_at_ms
            if known.queued_at_ms is None or due_at_ms < known.queued_at_ms:
                self._queue(server_id, known, due_at_ms)

    def _queue(self, server_id: str, known: _Server, at_ms: int) -> None:
        known.queued_at_ms = at_ms
        heappush(self._due, (at_ms, server_id))

    def _add(self, server_id: str, network_id: str, *, told: bool) -> _Server:
        known = _Server(network_id, told, told)
        self._servers[server_id] = known
        self._networks[network_id].add(server_id)
        return known

    def _forget(self, server_id: str) -> None:
        self._networks[self._servers.pop(server_id).network_id].discard(server_id)
