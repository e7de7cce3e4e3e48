"""Brings copies up to date with their rows: by comparing the heads of many, or by reading one after the other.

Copies for whose state somebody waits come first. Of the others few are read at a time, so that the death of a node with
thousands of watched owners does not keep the database busy, and those who watch do not all get a snapshot at once.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from actors.kernel.mailbox import Failure
from actors.kernel.nodes.copy import Copy, Phase
from actors.kernel.recovery import Recovered, read_missed, recover
from actors.kernel.runtime import Runtime
from actors.kernel.store import Journal
from actors.kernel.supervisor import Contained, Fault
from persistence.connection import Connection
from persistence.errors import PersistenceError

COMPARED_AT_ONCE = 1_000
"""Most heads that one query reads."""

READ_AT_ONCE = 8
"""Most copies that are read at the same time; of actors, fifty are loaded at once."""


class Failed(Protocol):
    """Is told that a copy could not be brought up to date."""

    def __call__(self, copy: Copy, failure: Failure, *, is_gone: bool) -> None:
        """Take in the failure.

        Args:
            failure: why the copy could not be read.
            is_gone: there is no such owner any more.
        """
        ...


class Refreshing:
    """The copies that are to be read.

    Args:
        runtime: what copies share with the actors of the system.
        still: whether a copy is still wanted.
        done: called with each copy that has taken the state of its rows, or was found to have it.
        failed: called with each copy that could not be brought up to date.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        still: Callable[[Copy], bool],
        done: Callable[[Copy], None],
        failed: Failed,
    ) -> None:
        self._runtime = runtime
        self._still = still
        self._done = done
        self._failed = failed
        self._to_compare: deque[tuple[Copy, int]] = deque()
        self._to_read: deque[tuple[Copy, int]] = deque()
        self._comparing = False
        self._readers = 0

    def add(self, copy: Copy) -> None:
        """Have a copy brought up to date, unless it begins anew before."""
        if copy.place[1] < 0:
            self._read_soon(copy, copy.round)
            return
        self._to_compare.append((copy, copy.round))
        if not self._comparing:
            self._comparing = True
            self._runtime.start(self._compare)

    def _waits(self, copy: Copy, of_round: int) -> bool:
        return copy.phase is Phase.READING and copy.round == of_round and self._still(copy)

    # -- heads --------------------------------------------------------------------------------------

    async def _compare(self) -> None:
        try:
            while self._to_compare:
                count = min(COMPARED_AT_ONCE, len(self._to_compare))
                await self._compare_some([self._to_compare.popleft() for _ in range(count)])
        finally:
            self._comparing = False

    async def _compare_some(self, some: list[tuple[Copy, int]]) -> None:
        keys = [(copy.kind.name, copy.id) for copy, _ in some]
        try:
            found = await self._runtime.store.read(_read_positions, self._runtime.journal, keys)
        except PersistenceError as failure:
            for copy, of_round in some:
                if self._waits(copy, of_round):
                    self._failed(copy, failure, is_gone=False)
            return
        for copy, of_round in some:
            if self._waits(copy, of_round):
                self._judge(copy, found.get((copy.kind.name, copy.id)))

    def _judge(self, copy: Copy, head: tuple[str, int] | None) -> None:
        if head is not None and head[0] == copy.channel.epoch and head[1] <= copy.reach:
            self._done(copy)
        else:
            self._read_soon(copy, copy.round)

    # -- one after the other ------------------------------------------------------------------------

    def _read_soon(self, copy: Copy, of_round: int) -> None:
        if copy.waiters:
            self._to_read.appendleft((copy, of_round))
        else:
            self._to_read.append((copy, of_round))
        if self._readers < READ_AT_ONCE:
            self._readers += 1
            self._runtime.start(self._read_all)

    async def _read_all(self) -> None:
        try:
            while self._to_read:
                copy, of_round = self._to_read.popleft()
                if self._waits(copy, of_round):
                    await self._read(copy, of_round)
        finally:
            self._readers -= 1

    async def _read(self, copy: Copy, of_round: int) -> None:
        with Contained("reading a copy", copy.kind.name, copy.id) as reading:
            changes = copy.changes
            try:
                recovered, missed = await self._recover(copy)
            except PersistenceError as failure:
                if self._waits(copy, of_round):
                    self._failed(copy, failure, is_gone=False)
                return
            if not self._waits(copy, of_round):
                return
            if recovered is None:
                self._failed(copy, copy.kind.unknown(), is_gone=True)
                return
            copy.renew(recovered, missed, changes)
            self._done(copy)
        if reading.fault is not None and self._waits(copy, of_round):
            self._failed(copy, Fault(), is_gone=False)

    async def _recover(self, copy: Copy) -> tuple[Recovered | None, Sequence[tuple[int, Any]] | None]:
        """The state of the rows, and the events that lead there from what is shown; None where nobody looks, or they
        are not known."""
        runtime, kind, channel = self._runtime, copy.kind, copy.channel
        async with runtime.loads:
            recovered = await runtime.store.read(recover, runtime.journal, kind, copy.id)
            follows = recovered is not None and recovered.epoch == channel.epoch
            if recovered is None or not follows or not len(channel) or recovered.seq <= channel.offset:
                return recovered, None
            return recovered, await runtime.store.read(
                read_missed, runtime.journal, kind, copy.id, channel.offset
            )


async def _read_positions(
    conn: Connection, journal: Journal, keys: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], tuple[str, int]]:
    by_kind: dict[str, list[str]] = {}
    for kind_name, id in keys:
        by_kind.setdefault(kind_name, []).append(id)
    found: dict[tuple[str, str], tuple[str, int]] = {}
    for kind_name, ids in by_kind.items():
        for id, position in (await journal.read_positions(conn, kind_name, ids)).items():
            found[kind_name, id] = position
    return found
