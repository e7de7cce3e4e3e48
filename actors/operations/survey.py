"""Which of thousands of actors are worth a look: totals by kind, and the first rows in some order.

A survey is fed slice by slice and keeps no more rows than are wanted, so that nothing else waits for it.
"""

from collections.abc import Callable, Iterable
from heapq import nsmallest
from typing import Any, Literal, TypeAlias

import msgspec

from actors.kernel.statistics import ActorStatistics

Sort: TypeAlias = Literal["trouble", "mailbox", "subscribers", "restarts", "idle", "busy", "kind"]
"""The orders of rows. `trouble`: faulty ones first, then the most restarts, the longest queues, the most subscribers.
`mailbox`, `subscribers`, `restarts`: the greatest number first. `idle`: idle for longest first. `busy`: least idle
first. `kind`: by kind and id."""

_ORDERS: dict[Sort, Callable[[ActorStatistics], tuple[Any, ...]]] = {
    "trouble": lambda row: (row.last_error is None, -row.restarts, -row.mailbox, -row.subscribers),
    "mailbox": lambda row: (-row.mailbox,),
    "subscribers": lambda row: (-row.subscribers,),
    "restarts": lambda row: (-row.restarts,),
    "idle": lambda row: (-row.idle_ms,),
    "busy": lambda row: (row.idle_ms,),
    "kind": lambda _row: (),
}


class KindTotals(msgspec.Struct, rename="camel"):
    """All live actors of one kind.

    Args:
        kind: the kind of actor.
        actors: how many there are.
        mailbox, subscribers, restarts: the sums of these numbers over all of them.
        faulty: how many of them were ended by an error, and have not been retired since.
    """

    kind: str
    actors: int = 0
    mailbox: int = 0
    subscribers: int = 0
    restarts: int = 0
    faulty: int = 0


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """Which rows a survey keeps.

    Args:
        kind: only rows of this kind; None for all.
        text: only rows whose id or last error contains this text, case ignored; empty for all.
        sort: the order of the rows; equal ones are ordered by kind and id.
        limit: how many rows to keep at most.
    """

    kind: str | None = None
    text: str = ""
    sort: Sort = "trouble"
    limit: int


class Survey:
    """The totals and rows that were found so far.

    Args:
        wanted: which rows to keep.

    Attributes:
        matched: how many rows are wanted, those beyond the limit included.
        rows: the first of them, within the limit.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._text = wanted.text.lower()
        order = _ORDERS[wanted.sort]
        self._key: Callable[[ActorStatistics], tuple[Any, ...]] = lambda row: (*order(row), row.kind, row.id)
        self._totals: dict[str, KindTotals] = {}
        self.matched = 0
        self.rows: list[ActorStatistics] = []

    @property
    def kinds(self) -> tuple[KindTotals, ...]:
        """The totals of all kinds, whether their rows are wanted or not, sorted by kind."""
        return tuple(self._totals[kind] for kind in sorted(self._totals))

    @property
    def total(self) -> int:
        """How many actors there are, wanted or not."""
        return sum(totals.actors for totals in self._totals.values())

    def add(self, rows: Iterable[ActorStatistics]) -> None:
        """Look at some more actors."""
        found = []
        for row in rows:
            self._count(row)
            if self._is_wanted(row):
                found.append(row)
        self.matched += len(found)
        self.rows = nsmallest(self._wanted.limit, [*self.rows, *found], key=self._key)

    def _count(self, row: ActorStatistics) -> None:
        totals = self._totals.get(row.kind)
        if totals is None:
            totals = self._totals[row.kind] = KindTotals(row.kind)
        totals.actors += 1
        totals.mailbox += row.mailbox
        totals.subscribers += row.subscribers
        totals.restarts += row.restarts
        totals.faulty += row.last_error is not None

    def _is_wanted(self, row: ActorStatistics) -> bool:
        if self._wanted.kind not in (None, row.kind):
            return False
        return not self._text or self._text in row.id.lower() or self._text in (row.last_error or "").lower()
