"""The statuses that servers report, in memory: the statuses of servers and networks are computed from
them (contract §7).

A report replaces one entry of a table, however long lists are; rows follow once a second (`flush`), in one statement.
Only fresh reports count: of older ones only the MOTD and the time are used.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush

import msgspec

from actors.kernel.store import Store
from actors.kernel.turnstile import Turnstile
from actors.publications.states import STALE_MS
from persistence.publications import statuses
from persistence.publications.rows import Rank, StatusRow, Target

MAX_PLAYERS = 100_000
"""The most players, and places, of one server; greater numbers are clamped."""

CAPACITY = 100_000
"""How many servers are remembered, 0.5 KB each; reports of further servers are ignored."""


class Status(msgspec.Struct, frozen=True):
    """The current status of a server or network.

    Args:
        online: whether players can join, by a fresh report.
        motd: the last MOTD of a server; of a network, the newest among fresh reports that is not empty.
        players, capacity: how many players there are, and how many there may be; of a network, the sums over fresh
            reports of servers that are online.
        at_ms: the time of the newest report, epoch milliseconds; None without one.
        fresh, total: how many reports are fresh, and how many there are.
    """

    online: bool = False
    motd: str = ""
    players: int = 0
    capacity: int = 0
    at_ms: int | None = None
    fresh: int = 0
    total: int = 0


SILENT = Status()
"""The status of a target without reports."""


@dataclass(slots=True, eq=False)
class _Network:
    """The reports of a network's servers, and their sum, valid until `until_ms`."""

    reports: dict[str, StatusRow] = field(default_factory=dict)
    status: Status | None = None
    until_ms: int = 0


class Statuses:
    """The reports of all servers.

    Args:
        fresh_ms: how long a report counts; at exactly this age it still does.
        capacity: how many servers are remembered.
    """

    def __init__(self, fresh_ms: int, *, capacity: int = CAPACITY) -> None:
        self._fresh_ms = fresh_ms
        self._capacity = capacity
        self._reports: dict[str, StatusRow] = {}
        self._networks: dict[str, _Network] = {}
        self._told: set[str] = set()  # servers whose report is not yet written
        self._moved: set[Target] = set()  # targets whose rank in the list is not yet written
        self._flushing = Turnstile()
        self._ends: list[tuple[int, str]] = []  # heap of (when a report stops counting, server)
        self._ending: set[str] = set()  # servers in it
        self._followers: list[Callable[[str], None]] = []
        self._report_followers: list[Callable[[str], None]] = []

    async def open(self, store: Store, now_ms: int) -> None:
        """Load the reports that came before this process was started.

        Raises:
            DatabaseUnavailable: the database cannot be asked.
        """
        for report in await store.read(statuses.since, now_ms - STALE_MS):
            self._take(report)

    def follow(self, follower: Callable[[str], None]) -> None:
        """Have `follower` called from now on with the id of each server that has reported, is in another network, has a
        report that no longer counts (which `flush` notices), or is forgotten. It must neither wait nor raise.
        """
        self._followers.append(follower)

    def follow_reports(self, follower: Callable[[str], None]) -> None:
        """Have `follower` called from now on with the id of each server that has reported to this node. It must neither
        wait nor raise."""
        self._report_followers.append(follower)

    def report(self, report: StatusRow, now_ms: int) -> bool:
        """Take in a server's report; False when it is ignored: older than the known one, or of a server
        beyond the capacity.

        A time in the future becomes now; players are clamped to places.

        Args:
            report: the report as it came.
            now_ms: epoch milliseconds.
        """
        if not self.hear(report, now_ms):
            return False
        self._told.add(report.server_id)
        self._move(self._reports[report.server_id])
        for follower in self._report_followers:
            follower(report.server_id)
        return True

    def hear(self, report: StatusRow, now_ms: int) -> bool:
        """As `report`, for a report that has come to another node, which also writes it.

        Args:
            report: the report as it came.
            now_ms: epoch milliseconds.
        """
        known = self._reports.get(report.server_id)
        at_ms = min(report.at_ms, now_ms)
        if known is None and len(self._reports) >= self._capacity:
            return False
        if known is not None and at_ms < known.at_ms:
            return False
        capacity = min(max(report.capacity, 0), MAX_PLAYERS)
        players = min(max(report.players, 0), capacity)
        self._take(msgspec.structs.replace(report, players=players, capacity=capacity, at_ms=at_ms))
        self._tell(report.server_id)
        return True

    def report_of(self, server_id: str) -> StatusRow | None:
        """A server's report, whether it counts or not."""
        return self._reports.get(server_id)

    def fresh_report(self, server_id: str, now_ms: int) -> StatusRow | None:
        """A server's report, while it counts."""
        report = self._reports.get(server_id)
        return None if report is None or now_ms - report.at_ms > self._fresh_ms else report

    def servers_in(self, network_id: str) -> tuple[str, ...]:
        """The servers of a network that have reported; none for an id that is no network's."""
        network = self._networks.get(network_id)
        return () if network is None else tuple(network.reports)

    def of(self, target: Target | None, now_ms: int) -> Status:
        """The current status of a server or network.

        Args:
            target: None for a publication of an address alone, which has no status.
            now_ms: epoch milliseconds.
        """
        if target is None:
            return SILENT
        if target.type == "network":
            return self._of_network(target.id, now_ms)
        report = self._reports.get(target.id)
        if report is None:
            return SILENT
        return msgspec.structs.replace(self._sum((report,), now_ms), motd=report.motd)

    def moved(self, server_id: str, network_id: str | None) -> None:
        """Note that a server is in this network now, or in none."""
        report = self._reports.get(server_id)
        if report is not None and report.network_id != network_id:
            self._move(report)
            self._take(msgspec.structs.replace(report, network_id=network_id))
            self._move(self._reports[server_id])
            self._tell(server_id)

    def published(self, target: Target) -> None:
        """Rank a target that was published, by the reports from before that, at the next `flush`."""
        self._moved.add(target)

    def forget(self, server_id: str) -> None:
        """Forget a server's report: the server was removed."""
        report = self._reports.pop(server_id, None)
        if report is not None:
            self._told.discard(server_id)
            self._leave(report)
            self._move(report)
            self._tell(server_id)

    def forget_old(self, now_ms: int) -> None:
        """Forget reports so old that their publications are no longer in the list."""
        old = [report.server_id for report in self._reports.values() if report.at_ms < now_ms - STALE_MS]
        for server_id in old:
            self.forget(server_id)

    async def flush(self, store: Store, now_ms: int) -> None:
        """Write all changes since the last time. When it returns, all that was known when it was called is in rows.
        On an error or cancellation the changes are kept for the next time.

        Raises:
            PersistenceError: the database cannot be asked.
        """
        async with self._flushing.turn(self):
            await self._flush(store, now_ms)

    async def _flush(self, store: Store, now_ms: int) -> None:
        self._end(now_ms)
        told, moved = self._told, self._moved
        if not told and not moved:
            return
        self._told, self._moved = set(), set()
        written = False
        try:
            rows = [self._reports[server_id] for server_id in sorted(told)]
            ranks = [self._rank(target, now_ms) for target in sorted(moved, key=lambda one: one.id)]
            await store.transact(statuses.write, rows, ranks, now_ms - STALE_MS)
            written = True
        finally:
            if not written:
                self._told |= {server_id for server_id in told if server_id in self._reports}
                self._moved |= moved

    def __len__(self) -> int:
        """The number of servers remembered."""
        return len(self._reports)

    def _take(self, report: StatusRow) -> None:
        known = self._reports.get(report.server_id)
        if known is not None:
            self._leave(known)
        self._reports[report.server_id] = report
        if report.network_id is not None:
            network = self._networks.setdefault(report.network_id, _Network())
            network.reports[report.server_id] = report
            network.status = None
        if report.server_id not in self._ending:
            self._ending.add(report.server_id)
            heappush(self._ends, (report.at_ms + self._fresh_ms, report.server_id))

    def _leave(self, report: StatusRow) -> None:
        network = self._networks.get(report.network_id or "")
        if network is None:
            return
        network.reports.pop(report.server_id, None)
        network.status = None
        if not network.reports:
            del self._networks[report.network_id or ""]

    def _move(self, report: StatusRow) -> None:
        self._moved.add(Target("server", report.server_id))
        if report.network_id is not None:
            self._moved.add(Target("network", report.network_id))

    def _end(self, now_ms: int) -> None:
        """Rank again the targets whose report is no longer fresh."""
        while self._ends and self._ends[0][0] < now_ms:
            _, server_id = heappop(self._ends)
            self._ending.discard(server_id)
            report = self._reports.get(server_id)
            if report is None:
                continue
            if report.at_ms + self._fresh_ms < now_ms:
                self._move(report)
                self._tell(server_id)
            else:
                self._ending.add(server_id)
                heappush(self._ends, (report.at_ms + self._fresh_ms, server_id))

    def _tell(self, server_id: str) -> None:
        for follower in self._followers:
            follower(server_id)

    def _rank(self, target: Target, now_ms: int) -> Rank:
        status = self.of(target, now_ms)
        return Rank(target.id, status.players, status.at_ms or 0)

    def _of_network(self, network_id: str, now_ms: int) -> Status:
        network = self._networks.get(network_id)
        if network is None:
            return SILENT
        if network.status is None or now_ms > network.until_ms:
            reports = network.reports.values()
            network.status = self._sum(reports, now_ms)
            ends = (report.at_ms + self._fresh_ms for report in reports)
            network.until_ms = min((end for end in ends if end >= now_ms), default=2**63)
        return network.status

    def _sum(self, reports: Iterable[StatusRow], now_ms: int) -> Status:
        newest, motd_at_ms, motd = -1, -1, ""
        fresh = total = players = capacity = 0
        online = False
        for report in reports:
            total += 1
            newest = max(newest, report.at_ms)
            counts = now_ms - report.at_ms <= self._fresh_ms
            fresh += counts
            if report.motd and counts and report.at_ms > motd_at_ms:
                motd, motd_at_ms = report.motd, report.at_ms
            if counts and report.online:
                online = True
                players += report.players
                capacity += report.capacity
        return Status(online, motd, players, capacity, newest, fresh, total)
